// The driver of the tool runner in Anthropic's SDK for TypeScript. Each case is one runner; a conversation is a message
// thread with a runner for each of its turns. README.md says what is chosen here.

import { error, handlers, serve, started, value } from './looptck-driver.mjs';

import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { readFileSync } from 'node:fs';
import { written } from './looptck-zod.mjs';

const PACKAGE = new URL('node_modules/@anthropic-ai/sdk/package.json', import.meta.url);
const MAX_TOKENS = 1024;
const SEARCH = { type: 'web_search_20250305', name: 'web_search' };
const BETAS = ['mcp-client-2025-11-20'];
const STOPS = {
  end_turn: 'end',
  stop_sequence: 'end',
  tool_use: 'calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'refusal',
};
const threads = new Map();

serve({
  start: () =>
    started({
      name: 'anthropic tool runner js',
      version: JSON.parse(readFileSync(PACKAGE)).version,
      wires: ['anthropic-messages'],
      profiles: ['anthropic-loop'],
      stream: true,
      chunks: true,
      limit: true,
      concurrent: true,
      parallel: true,
      memory: true,
      cancel: true,
      leave: true,
      histories: true,
      conversations: true,
      mcp: true,
      hosted: true,
      dialect: { limit_counts: 'model-calls' },
    }),
  async run(scenario, emit, signal) {
    try {
      return answered(await answer(scenario, emit, signal));
    } catch (exception) {
      return error(exception);
    }
  },
});

class Left extends Error {}

async function answer(scenario, emit, signal) {
  const runner = runnerOf(scenario, signal);
  if (!scenario.stream) return await runner;
  let left = scenario.options.leave_after;
  for await (const messageStream of runner) {
    for await (const event of messageStream) {
      if (event.type !== 'content_block_delta' || event.delta.type !== 'text_delta') continue;
      emit(event.delta.text);
      if (--left === 0) break;
    }
    if (left === 0) return undefined;
  }
  return await runner;
}

function runnerOf(scenario, signal) {
  const { stream, conversation, options } = scenario;
  const settings = { ...(stream && { stream }), ...('limit' in options && { max_iterations: options.limit }) };
  const { messages, ...fields } = request(scenario);
  if (conversation === undefined) {
    const { beta } = client(scenario);
    return beta.messages.toolRunner({ ...fields, messages, ...settings }, { signal });
  }
  if (!threads.has(conversation)) threads.set(conversation, client(scenario).beta.messages.thread(fields));
  const thread = threads.get(conversation);
  thread.append(...messages);
  return thread.toolRunner(settings, { signal });
}

function client({ base_url, api_key: apiKey }) {
  return new Anthropic({ apiKey, baseURL: base_url.replace(/\/v1$/, '') });
}

// The Messages API has the system prompt beside the messages.
function request(scenario) {
  const system = scenario.messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const said = scenario.messages.filter(({ role }) => role !== 'system');
  const servers = scenario.mcp_servers?.map((server) => ({ type: 'url', ...server }));
  return {
    model: scenario.model,
    max_tokens: MAX_TOKENS,
    messages: messages(said),
    tools: [...tools(scenario), ...hosted(scenario)],
    ...(system.length && { system: system.join('\n\n') }),
    ...(servers && { mcp_servers: servers, betas: BETAS }),
  };
}

// Results of one turn are one message of the user, and so is what the user says next.
function messages(said) {
  const found = [];
  for (const { role, content, calls, call_id } of said) {
    if (role === 'tool') {
      const result = { type: 'tool_result', tool_use_id: call_id, content };
      if (Array.isArray(found.at(-1)?.content) && found.at(-1).role === 'user') found.at(-1).content.push(result);
      else found.push({ role: 'user', content: [result] });
    } else if (calls) {
      const text = content ? [{ type: 'text', text: content }] : [];
      const uses = calls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input }));
      found.push({ role, content: [...text, ...uses] });
    } else {
      found.push({ role, content });
    }
  }
  return found;
}

// A tool without a function is its bare definition, which the runner only offers.
function tools(scenario) {
  const functions = handlers(scenario);
  return scenario.tools.map(({ name, description, parameters }) => {
    if (!functions[name]) return { name, description, input_schema: parameters };
    const run = async (input) => text(await functions[name](input));
    const inputSchema = written(parameters);
    if (inputSchema) return betaZodTool({ name, description, inputSchema, run });
    return betaTool({ name, description, inputSchema: parameters, run });
  });
}

const text = (found) => (typeof found === 'string' ? found : JSON.stringify(found));

// The tools of the service: the web search, and for each MCP server the toolset that the API wants beside it.
function hosted({ hosted_tools = [], mcp_servers = [] }) {
  const toolsets = mcp_servers.map(({ name }) => ({ type: 'mcp_toolset', mcp_server_name: name }));
  return [...hosted_tools.map(() => SEARCH), ...toolsets];
}

function answered(message) {
  if (!message) return error(new Left('the caller has left the stream'), { reason: 'cancelled' });
  const texts = message.content.filter(({ type }) => type === 'text').map((block) => block.text);
  return value(texts.length ? texts.join('') : null, { stop: STOPS[message.stop_reason] });
}
