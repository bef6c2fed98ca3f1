// The driver of the OpenAI Agents SDK for JavaScript: each case is a run of an agent by a runner of its own.
// README.md says what is chosen here.

import { error, handlers, serve, started, suspended, value } from './looptck-driver.mjs';

import { Agent, MemorySession, OpenAIProvider, Runner, RunState, setTracingDisabled, tool } from '@openai/agents';
import { readFileSync } from 'node:fs';
import { written } from './looptck-zod.mjs';

const PACKAGE = new URL('node_modules/@openai/agents/package.json', import.meta.url);
const agents = new Map();
const sessions = new Map();

setTracingDisabled(true); // it would send the run to OpenAI

serve({
  start: () =>
    started({
      name: 'openai agents js',
      version: JSON.parse(readFileSync(PACKAGE)).version,
      wires: ['openai-chat', 'openai-responses'],
      stream: true,
      chunks: true,
      limit: true,
      concurrent: true,
      parallel: true,
      cancel: true,
      leave: true,
      conversations: true,
      histories: true,
      shared: true,
      suspend: true,
      travels: true,
      handoffs: true,
      subagents: true,
      dialect: { limit_counts: 'model-calls' },
    }),
  async run(scenario, emit, signal) {
    try {
      return await answer(scenario, emit, signal);
    } catch (exception) {
      return error(exception, { reasons: { MaxTurnsExceededError: 'limit' } });
    }
  },
});

class Cancelled extends Error {}

async function answer(scenario, emit, signal) {
  const agent = agentOf(scenario);
  const leaving = new AbortController();
  const options = {
    ...('limit' in scenario.options && { maxTurns: scenario.options.limit }),
    ...(scenario.conversation && { session: sessionOf(scenario), sessionInputCallback: (old, now) => old.concat(now) }),
    signal: AbortSignal.any([signal, leaving.signal]),
    stream: scenario.stream,
  };
  const result = await runner(scenario).run(agent, await input(scenario, agent), options);
  if (scenario.stream) {
    let left = scenario.options.leave_after;
    for await (const text of result.toTextStream()) {
      if (leaving.signal.aborted) continue;
      emit(text);
      if (--left === 0) leaving.abort();
    }
    await result.completed;
    if (result.cancelled) return error(new Cancelled('the stream says that it is cancelled'), { reason: 'cancelled' });
  }
  const waiting = result.interruptions ?? [];
  if (!waiting.length) return value(result.finalOutput);
  const calls = waiting.map((one) => ({ id: idOf(one), name: one.name, arguments: one.arguments }));
  return suspended({ instructions: agent.instructions, run: result.state.toString() }, calls);
}

function runner({ base_url: baseURL, api_key: apiKey, wire }) {
  const useResponses = wire === 'openai-responses';
  return new Runner({ modelProvider: new OpenAIProvider({ baseURL, apiKey, useResponses }) });
}

function agentOf(scenario) {
  const { shared, conversation, model, messages, resume } = scenario;
  const key = shared ?? conversation;
  if (agents.has(key)) return agents.get(key);
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const instructions = resume ? resume.state.instructions : system.join('\n\n');
  const alone = { name: scenario.agent.name, model, instructions, tools: tools(scenario) };
  const agent = scenario.agents ? team(scenario) : new Agent(alone);
  if (key !== undefined) agents.set(key, agent);
  return agent;
}

// The first of several agents. Handoffs and agents as tools have the names that the SDK gives them.
function team({ agents, model, ...scenario }) {
  const offered = new Map(tools(scenario).map((one) => [one.name, one]));
  const found = new Map(
    agents.map(({ name, description, instructions, tools: own }) => {
      const about = { name, handoffDescription: description, instructions, model };
      return [name, new Agent({ ...about, tools: own.map((one) => offered.get(one)) })];
    }),
  );
  for (const { name, handoffs, subagents } of agents) {
    const agent = found.get(name);
    agent.handoffs = handoffs.map((one) => found.get(one));
    for (const one of subagents) {
      const { description: toolDescription } = agents.find((other) => other.name === one);
      agent.tools.push(found.get(one).asTool({ toolDescription }));
    }
  }
  return found.get(agents[0].name);
}

function sessionOf({ conversation }) {
  if (!sessions.has(conversation)) sessions.set(conversation, new MemorySession());
  return sessions.get(conversation);
}

// What the run begins with: the user's text, items if there are several, or the state of a suspended run.
async function input({ messages, resume }, agent) {
  if (resume) return resumed(resume, agent);
  const said = messages.filter(({ role }) => role !== 'system');
  if (said.length === 1 && said[0].role === 'user') return said[0].content;
  const names = Object.fromEntries(said.flatMap(({ calls = [] }) => calls.map(({ id, name }) => [id, name])));
  return said.flatMap((one) => items(one, names));
}

function items({ role, content, calls = [], call_id: callId }, names) {
  if (role === 'user') return [{ role, content }];
  const status = 'completed';
  if (role === 'tool') {
    const output = { type: 'text', text: content };
    return [{ type: 'function_call_result', callId, name: names[callId], status, output }];
  }
  const text = content ? [{ role, status, content: [{ type: 'output_text', text: content }] }] : [];
  const made = ({ id, name, arguments: args }) => {
    return { type: 'function_call', callId: id, name, arguments: JSON.stringify(args), status };
  };
  return [...text, ...calls.map(made)];
}

async function resumed({ state: kept, decisions }, agent) {
  const state = await RunState.fromString(agent, kept.run);
  for (const one of state.getInterruptions()) {
    const { decision, feedback } = decisions.find(({ id }) => id === idOf(one));
    if (decision === 'approve') state.approve(one);
    else state.reject(one, feedback ? { message: feedback } : {});
  }
  return state;
}

const idOf = ({ rawItem }) => rawItem.callId;

// A tool without a function has nothing to be made of here: it is left out.
function tools(scenario) {
  const functions = handlers(scenario);
  const found = scenario.tools.filter(({ name }) => functions[name]);
  return found.map(({ name, description, parameters, approval }) => {
    const about = { name, description, ...(approval && { needsApproval: true }) };
    return offered(about, parameters, (args) => functions[name](args));
  });
}

// In zod, as a user writes it; what zod does not say, or no strict schema can, as JSON Schema that is not strict.
function offered(about, schema, execute) {
  const parameters = written(schema);
  try {
    if (parameters) return tool({ ...about, parameters, execute });
  } catch {
    // no strict schema: the SDK says so when the tool is made
  }
  return tool({ ...about, parameters: { additionalProperties: true, ...schema }, strict: false, execute });
}
