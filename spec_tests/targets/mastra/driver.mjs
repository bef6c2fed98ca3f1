// The driver of Mastra: each case becomes an Agent of a Mastra instance with storage. README.md says what is chosen here.

import { error, handlers, serve, started, suspended, value } from './looptck-driver.mjs';
import { createAnthropic } from '@ai-sdk/anthropic';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { LibSQLStore } from '@mastra/libsql';
import { Memory } from '@mastra/memory';
import { readFileSync } from 'node:fs';
import { written } from './looptck-zod.mjs';

const PACKAGE = new URL('node_modules/@mastra/core/package.json', import.meta.url);

const kept = new Map(); // the agents of conversations, of suspended runs, and those that serve several runs

serve({
  start: () =>
    started({
      name: 'mastra',
      version: JSON.parse(readFileSync(PACKAGE)).version,
      wires: ['openai-chat', 'openai-responses', 'anthropic-messages'],
      dialect: { limit_counts: 'model-calls' },
      stream: true,
      chunks: true,
      limit: true,
      concurrent: true,
      parallel: true,
      eager: true, // a stream's calls run as soon as each is whole (EagerToolExecutionCoordinator)
      conversations: true,
      histories: true,
      shared: true,
      cancel: true,
      leave: true,
      suspend: true,
      output: true,
    }),
  async run(scenario, emit, signal) {
    try {
      const agent = agentFor(scenario);
      return scenario.stream ? await streamed(agent, scenario, emit, signal) : await generated(agent, scenario, signal);
    } catch (exception) {
      return error(exception, { reasons: { AI_APICallError: 'provider', AI_RetryError: 'provider' } });
    }
  },
});

async function generated(agent, scenario, signal) {
  let result;
  if (scenario.resume) {
    const { how, options } = decided(scenario.resume);
    result = await agent[`${how}ToolCallGenerate`]({ ...options, abortSignal: signal });
  } else {
    result = await agent.generate(said(scenario), optionsOf(scenario, signal));
  }
  if (result.finishReason === 'suspended') return waiting(agent, result.runId, [result.suspendPayload]);
  return scenario.output_schema ? value(null, { output: result.object ?? null }) : value(result.text);
}

async function streamed(agent, scenario, emit, signal) {
  let stream;
  if (scenario.resume) {
    const { how, options } = decided(scenario.resume);
    stream = await agent[`${how}ToolCall`]({ ...options, abortSignal: signal });
  } else {
    stream = await agent.stream(said(scenario), optionsOf(scenario, signal));
  }
  const calls = [];
  let heard = 0;
  for await (const { type, payload } of stream.fullStream) {
    if (type === 'tool-call-approval') calls.push(payload);
    if (type !== 'text-delta') continue;
    emit(payload.text);
    if (++heard === scenario.options.leave_after) return error(new Error('the caller has left'), { reason: 'cancelled' });
  }
  if (calls.length) return waiting(agent, stream.runId, calls);
  return scenario.output_schema ? value(null, { output: (await stream.object) ?? null }) : value(await stream.text);
}

function agentFor(scenario) {
  const name = scenario.resume?.state.run ?? scenario.shared ?? scenario.conversation;
  const agent = kept.get(name) ?? agentOf(scenario);
  if (name) kept.set(name, agent);
  return agent;
}

function agentOf(scenario) {
  const functions = handlers(scenario);
  const tools = scenario.tools.filter(({ url }) => url).map((tool) => [tool.name, toolOf(tool, functions[tool.name])]);
  const system = scenario.messages.filter(({ role }) => role === 'system');
  const agent = new Agent({
    id: 'agent',
    name: scenario.agent.name,
    instructions: system.map(({ content }) => content).join('\n\n'),
    model: model(scenario),
    tools: Object.fromEntries(tools),
    ...(scenario.conversation && { memory: new Memory({ options: { lastMessages: 20 } }) }),
  });
  const storage = new LibSQLStore({ id: 'storage', url: ':memory:' });
  return new Mastra({ agents: { agent }, storage }).getAgentById('agent');
}

// Mastra's model router for servers of OpenAI's wires; of the third wire it takes a model of the AI SDK.
function model({ wire, base_url: url, api_key: apiKey, model }) {
  if (wire === 'anthropic-messages') return createAnthropic({ baseURL: url, apiKey })(model);
  const router = { id: `looptck/${model}`, url, apiKey };
  return wire === 'openai-responses' ? { ...router, api: 'responses' } : router;
}

// The schema as a user writes it, in zod; what zod does not say here as it comes.
function toolOf({ name, description, parameters, approval }, call) {
  const about = { id: name, description, inputSchema: written(parameters) ?? parameters };
  return createTool({ ...about, ...(approval && { requireApproval: true }), execute: (input) => call(input) });
}

function optionsOf({ options: { limit }, conversation, output_schema: schema }, abortSignal) {
  return {
    abortSignal,
    ...(schema && { structuredOutput: { schema: written(schema) ?? schema } }),
    ...(limit !== undefined && { maxSteps: limit }),
    ...(conversation && { memory: { resource: 'user', thread: conversation } }),
  };
}

function said({ messages }) {
  const names = new Map(messages.flatMap(({ calls = [] }) => calls.map(({ id, name }) => [id, name])));
  const others = messages.filter(({ role }) => role !== 'system');
  return others.length === 1 ? others[0].content : others.map((message) => modelMessage(message, names));
}

function modelMessage({ role, content, calls, call_id: toolCallId }, names) {
  if (role === 'tool') {
    const output = { type: 'text', value: content };
    return { role, content: [{ type: 'tool-result', toolCallId, toolName: names.get(toolCallId), output }] };
  }
  if (!calls) return { role, content };
  const called = calls.map(({ id, name, arguments: input }) => ({ type: 'tool-call', toolCallId: id, toolName: name, input }));
  return { role, content: [...(content ? [{ type: 'text', text: content }] : []), ...called] };
}

function waiting(agent, run, payloads) {
  kept.set(run, agent);
  const calls = payloads.map(({ toolCallId, toolName, args }) => ({ id: toolCallId, name: toolName, arguments: args }));
  return suspended({ run }, calls);
}

// Approved or declined by the id of the call; there is no way to change the arguments.
function decided({ state, decisions: [{ id, decision, feedback }] }) {
  const options = { runId: state.run, toolCallId: id };
  if (decision === 'reject') return { how: 'decline', options: { ...options, ...(feedback && { reason: feedback }) } };
  if (decision === 'change') throw new Error('a call that waits cannot be changed');
  return { how: 'approve', options };
}
