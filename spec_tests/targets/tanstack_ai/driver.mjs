// The driver of TanStack AI: each case becomes a call of `chat`, whose events are read. README.md says what is chosen here.

import { error, handlers, serve, started, value } from './looptck-driver.mjs';
import { chat, maxIterations, toolDefinition } from '@tanstack/ai';
import { createAnthropicChat } from '@tanstack/ai-anthropic';
import { createOpenaiChat, createOpenaiChatCompletions } from '@tanstack/ai-openai';
import { readFileSync } from 'node:fs';
import { written } from './looptck-zod.mjs';

const PACKAGE = new URL('node_modules/@tanstack/ai/package.json', import.meta.url);
const STOPS = { stop: 'end', tool_calls: 'calls', length: 'length', content_filter: 'content_filter' };
const ADAPTERS = {
  'openai-chat': ({ model, api_key, base_url: baseURL }) => createOpenaiChatCompletions(model, api_key, { baseURL }),
  'openai-responses': ({ model, api_key, base_url: baseURL }) => createOpenaiChat(model, api_key, { baseURL }),
  'anthropic-messages': ({ model, api_key, base_url }) =>
    createAnthropicChat(model, api_key, { baseURL: base_url.replace(/\/v1$/, '') }),
};

serve({
  start: () =>
    started({
      name: 'tanstack-ai',
      version: JSON.parse(readFileSync(PACKAGE)).version,
      wires: Object.keys(ADAPTERS),
      stream: true,
      plain: false, // `stream: false` joins the text of a stream
      chunks: true,
      limit: true,
      concurrent: true,
      cancel: true,
    }),
  async run(scenario, emit, signal) {
    try {
      return await answered(chat(asked(scenario, signal)), emit);
    } catch (exception) {
      return error(exception);
    }
  },
});

function asked(scenario, signal) {
  const abortController = new AbortController();
  signal.addEventListener('abort', () => abortController.abort());
  return {
    adapter: ADAPTERS[scenario.wire](scenario),
    systemPrompts: scenario.messages.filter(({ role }) => role === 'system').map(({ content }) => content),
    messages: scenario.messages.filter(({ role }) => role !== 'system'),
    tools: toolsOf(scenario),
    abortController,
    ...('limit' in scenario.options && { agentLoopStrategy: maxIterations(scenario.options.limit) }),
  };
}

function toolsOf(scenario) {
  const functions = handlers(scenario);
  return scenario.tools.map(({ name, description, parameters }) => {
    const defined = toolDefinition({ name, description, inputSchema: written(parameters) ?? parameters });
    return functions[name] ? defined.server(functions[name]) : defined;
  });
}

/** The text of the last round: a result of a tool begins another. */
async function answered(stream, emit) {
  let text = '';
  let reason;
  for await (const event of stream) {
    if (event.type === 'TEXT_MESSAGE_CONTENT') {
      text += event.delta;
      emit(event.delta);
    } else if (event.type === 'TOOL_CALL_RESULT') text = '';
    else if (event.type === 'RUN_FINISHED') reason = event.metadata?.tanstack?.finishReason;
    else if (event.type === 'RUN_ERROR') throw new Error(event.message);
  }
  return value(text, { stop: reason && (STOPS[reason] ?? 'other') });
}
