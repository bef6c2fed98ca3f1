// The driver of pi-agent-core: each case becomes an Agent with a model of the case's wire. README.md says what is chosen.

import { error, handlers, serve, started, value } from './looptck-driver.mjs';
import { Agent } from '@mariozechner/pi-agent-core';
import { readFileSync } from 'node:fs';

const PACKAGE = new URL('node_modules/@mariozechner/pi-agent-core/package.json', import.meta.url);
const APIS = {
  'openai-chat': 'openai-completions',
  'openai-responses': 'openai-responses',
  'anthropic-messages': 'anthropic-messages',
};
const NOTHING = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

serve({
  start: () =>
    started({
      name: 'pi-agent-core',
      version: JSON.parse(readFileSync(PACKAGE)).version,
      wires: Object.keys(APIS),
      plain: false, // every model asks for event streams
      stream: true,
      chunks: true,
      concurrent: true,
      parallel: true,
      cancel: true,
    }),

  async run(scenario, emit, signal) {
    try {
      const { agent, question } = made(scenario);
      agent.subscribe(({ type, assistantMessageEvent: one }) => {
        if (type === 'message_update' && one.type === 'text_delta') emit(one.delta);
      });
      signal.addEventListener('abort', () => agent.abort());
      await agent.prompt(question);
      return told(agent.state.messages.at(-1));
    } catch (exception) {
      return error(exception);
    }
  },
});

function made(scenario) {
  const model = modelOf(scenario);
  const said = scenario.messages.filter(({ role }) => role !== 'system');
  const system = scenario.messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const agent = new Agent({
    initialState: {
      systemPrompt: system.join('\n'),
      model,
      thinkingLevel: model.reasoning ? 'low' : 'off',
      messages: said.slice(0, -1).map((one) => earlier(one, model)),
      tools: toolsOf(scenario),
    },
    getApiKey: () => scenario.api_key,
  });
  return { agent, question: said.at(-1).content };
}

function modelOf({ wire, model, base_url: url }) {
  return {
    id: model,
    name: model,
    api: APIS[wire],
    provider: 'looptck',
    baseUrl: wire === 'anthropic-messages' ? url.replace(/\/v1$/, '') : url,
    reasoning: model.startsWith('gpt-5'),
    input: ['text'],
    cost: NOTHING,
    contextWindow: 1_000_000,
    maxTokens: 4096,
  };
}

function toolsOf(scenario) {
  const functions = handlers(scenario);
  return scenario.tools
    .filter(({ name }) => functions[name])
    .map(({ name, description, parameters }) => ({
      name,
      label: name,
      description,
      parameters,
      execute: async (_, args) => {
        const result = await functions[name](args);
        const text = typeof result === 'string' ? result : JSON.stringify(result);
        return { content: [{ type: 'text', text }], details: {} };
      },
    }));
}

function earlier({ role, content }, { api, provider, id }) {
  if (role === 'user') return { role, content, timestamp: 0 };
  const usage = { ...NOTHING, totalTokens: 0, cost: { ...NOTHING, total: 0 } };
  return { role, content: [{ type: 'text', text: content }], api, provider, model: id, usage, stopReason: 'stop', timestamp: 0 };
}

function told({ content, stopReason, errorMessage }) {
  if (stopReason === 'error') return error(new Error(errorMessage), { reason: 'provider' });
  if (stopReason === 'aborted') return error(new Error(errorMessage ?? 'aborted'), { reason: 'cancelled' });
  const text = content.filter(({ type }) => type === 'text').map((one) => one.text);
  return value(text.join(''), stopReason === 'length' ? { stop: 'length' } : {});
}
