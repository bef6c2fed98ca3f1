// Fault: results are stored by call id for the whole run, so a call whose id was used in an earlier turn does not run.
// Rule: an id identifies a call within its turn; compatible servers restart their ids in each turn, and every call has to run.
// Written in: guide Function calling, Handling function calls; Chat API reference, Tool message.

import { LoopError, serve } from './driver.mjs';

class Executor {
  #results = new Map(); // the fault: it outlives the turn

  constructor(tools) {
    this.tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  answer(call) {
    if (!this.#results.has(call.id)) this.#results.set(call.id, this.#run(call.function ?? {}));
    return this.#results.get(call.id);
  }

  async #run({ name, arguments: raw }) {
    const tool = this.tools.get(name);
    if (!tool?.execute) return `Error: there is no tool named ${name}`;
    try {
      const args = typeof raw === 'string' ? JSON.parse(raw.trim() || '{}') : (raw ?? {});
      if (args === null || typeof args !== 'object' || Array.isArray(args)) return 'Error: the arguments have to be an object';
      const value = await tool.execute(args);
      return typeof value === 'string' ? value : JSON.stringify(value ?? null);
    } catch (error) {
      return `Error: ${error.name}: ${error.message}`;
    }
  }
}

async function ask({ base_url, api_key, model, tools }, messages) {
  const offered = tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } }));
  const reply = await fetch(`${base_url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${api_key}` },
    body: JSON.stringify({ model, messages, ...(offered.length && { tools: offered }) }),
  });
  if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
  const { choices, error } = await reply.json();
  if (!choices?.[0]?.message) throw new LoopError('provider', error?.message ?? 'a reply without choices');
  const { message, finish_reason } = choices[0];
  if (message.refusal) throw new LoopError('refusal', message.refusal);
  if (['length', 'content_filter'].includes(finish_reason)) throw new LoopError('truncated', `the reply was cut: ${finish_reason}`);
  return message;
}

const asText = (raw) => (typeof raw === 'string' ? raw : JSON.stringify(raw ?? {}));

const written = (call, at, turn) => ({
  ...call,
  id: call.id || `call_${turn}_${at}`,
  function: { ...call.function, arguments: asText(call.function?.arguments) },
});

async function run(given) {
  const executor = new Executor(given.tools);
  const messages = [...given.messages];
  for (let left = given.options.limit ?? 25; left > 0; left--) {
    const message = await ask(given, messages);
    if (!message.tool_calls?.length) return message.content ?? '';
    const calls = message.tool_calls.map((call, at) => written(call, at, left));
    messages.push({ ...message, role: 'assistant', tool_calls: calls });
    for (const call of calls) messages.push({ role: 'tool', tool_call_id: call.id, content: await executor.answer(call) });
  }
  throw new LoopError('limit', 'the iteration limit was reached');
}

serve({ started: { name: 'chat-results-by-id', wires: ['openai-chat'], capabilities: { limit: true, concurrent: true } }, run });
