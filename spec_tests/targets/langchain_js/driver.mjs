// The driver of LangChain for JavaScript: each case becomes an agent of createAgent, on the chat model of its wire.
//
// The limit is LangGraph's recursionLimit, which counts steps of the graph: a model call is one, the middleware that asks
// for approval is another, and the tools of a turn are one, however many. README.md says what is chosen here.

import { error, handlers, serve, started, suspended, value } from './looptck-driver.mjs';
import { ChatAnthropic } from '@langchain/anthropic';
import { Command, MemorySaver } from '@langchain/langgraph';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, humanInTheLoopMiddleware, tool } from 'langchain';
import { readFileSync } from 'node:fs';
import { written } from './looptck-zod.mjs';

const VERSION = JSON.parse(readFileSync(new URL('node_modules/langchain/package.json', import.meta.url))).version;

const maxRetries = 2; // the default, six, waits for more than a minute
const kept = new Map(); // the agents of conversations, of suspended runs, and those that serve several runs
const instructions = new Map(); // the system prompts of conversations
const checkpointer = new MemorySaver();

serve({
  start: () =>
    started({
      name: 'langchain.js',
      version: VERSION,
      wires: ['openai-chat', 'openai-responses', 'anthropic-messages'],
      dialect: { limit_counts: 'model-calls' },
      stream: true,
      chunks: true,
      limit: true,
      concurrent: true,
      parallel: true,
      conversations: true,
      histories: true,
      shared: true,
      cancel: true,
      leave: true,
      suspend: true,
      output: true,
      mcp_client: true,
    }),
  async run(scenario, emit, signal) {
    const servers = scenario.tool_servers?.length && clientOf(scenario);
    try {
      return await answer(scenario, emit, signal, servers ? await servers.getTools() : []);
    } catch (exception) {
      return error(exception, { reasons: { GraphRecursionError: 'limit' } });
    } finally {
      if (servers) await servers.close();
    }
  },
});

function clientOf({ tool_servers: servers }) {
  const urls = servers.map(({ name, url }) => [name, { transport: 'http', url }]);
  return new MultiServerMCPClient({ mcpServers: Object.fromEntries(urls) });
}

async function answer(scenario, emit, signal, served) {
  const thread = scenario.resume?.state.thread ?? scenario.conversation ?? scenario.id;
  const agent = agentFor(scenario, thread, served);
  const options = { signal, configurable: { thread_id: thread }, ...limit(scenario) };
  const input = scenario.resume ? decided(scenario.resume) : { messages: said(scenario) };
  const wanted = 'output_schema' in scenario;
  if (!scenario.stream) return answered(await agent.invoke(input, options), thread, wanted);
  let state = {};
  let heard = 0;
  for await (const [mode, part] of await agent.stream(input, { ...options, streamMode: ['messages', 'values'] })) {
    if (mode === 'values') {
      state = { ...state, ...part };
    } else if (part[0].type === 'ai' && part[0].text) {
      emit(part[0].text);
      if (++heard === scenario.options.leave_after) return error(new Error('the caller has left'), { reason: 'cancelled' });
    }
  }
  return answered(state, thread, wanted);
}

// The agent of a conversation, of a suspended run or of several runs is made once; with a checkpointer it keeps threads.
function agentFor(scenario, thread, served) {
  const keys = [thread, scenario.shared ?? thread].map((name) => `${name} ${'output_schema' in scenario}`);
  const said = scenario.messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const system = said.length ? said.join('\n\n') : instructions.get(thread);
  const agent = kept.get(keys[0]) ?? kept.get(keys[1]) ?? agentOf(scenario, system, served);
  if (scenario.shared) kept.set(keys[1], agent);
  if (scenario.conversation || asksFor(scenario).length) {
    kept.set(keys[0], agent);
    instructions.set(thread, system);
  }
  return agent;
}

function agentOf(scenario, systemPrompt, served) {
  const functions = handlers(scenario);
  const approved = asksFor(scenario);
  const keeps = scenario.conversation || scenario.shared || approved.length;
  return createAgent({
    model: model(scenario),
    tools: [...scenario.tools.filter(({ url }) => url).map((one) => toolOf(one, functions[one.name])), ...served],
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(keeps && { checkpointer }),
    ...responseFormat(scenario),
    ...(approved.length && { middleware: [humanInTheLoopMiddleware({ interruptOn: every(approved) })] }),
  });
}

// The schema in zod, as a user writes it; what zod does not say here as it comes.
function responseFormat({ output_schema: schema }) {
  return schema ? { responseFormat: written(schema) ?? schema } : {};
}

function model({ wire, base_url: baseURL, api_key: apiKey, model }) {
  if (wire === 'anthropic-messages') {
    return new ChatAnthropic({ model, apiKey, maxRetries, anthropicApiUrl: baseURL.replace(/\/v1$/, '') });
  }
  const responses = wire === 'openai-responses' ? { useResponsesApi: true } : {};
  return new ChatOpenAI({ model, apiKey, maxRetries, configuration: { baseURL }, ...responses });
}

// The schema as a user writes it, in zod; what zod does not say here as it comes.
function toolOf({ name, description, parameters }, call) {
  return tool((values) => call(values), { name, description, schema: written(parameters) ?? parameters });
}

function limit(scenario) {
  const steps = asksFor(scenario).length ? 3 : 2;
  return 'limit' in scenario.options ? { recursionLimit: steps * scenario.options.limit } : {};
}

// The prompt in the form of Chat Completions, which the agent takes.
function said({ messages }) {
  return messages
    .filter(({ role }) => role !== 'system')
    .map(({ role, content, calls, call_id: id }) => ({
      role,
      content,
      ...(calls && {
        tool_calls: calls.map((call) => ({ id: call.id, name: call.name, args: call.arguments, type: 'tool_call' })),
      }),
      ...(id && { tool_call_id: id }),
    }));
}

const asksFor = ({ tools }) => tools.filter(({ approval }) => approval).map(({ name }) => name);

const every = (names) => Object.fromEntries(names.map((name) => [name, true]));

// A request for approval names no ids: its actions are the last message's calls of these tools, in their order.
function answered(state, thread, wanted) {
  const last = state.messages.at(-1);
  if (!state.__interrupt__?.length && wanted) return value(null, { output: state.structuredResponse ?? null });
  if (!state.__interrupt__?.length) return value(last.text);
  const actions = state.__interrupt__[0].value.actionRequests;
  const names = actions.map(({ name }) => name);
  const ids = last.tool_calls.filter(({ name }) => names.includes(name)).map(({ id }) => id);
  const calls = actions.map(({ name, args }, place) => ({ id: ids[place], name, arguments: args }));
  return suspended({ thread, calls }, calls);
}

function decided({ state, decisions }) {
  const inOrder = state.calls.map((call) => [call, decisions.find(({ id }) => id === call.id)]);
  return new Command({ resume: { decisions: inOrder.map(([call, decision]) => decisionOn(call, decision)) } });
}

function decisionOn({ name, arguments: args }, { decision, feedback, parameters }) {
  if (decision === 'reject') return { type: 'reject', message: feedback };
  if (decision === 'change') return { type: 'edit', editedAction: { name, args: { ...args, ...parameters } } };
  return { type: 'approve' };
}
