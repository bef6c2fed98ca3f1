// Fault: a tool that throws ends the run with its error, and the remaining calls in the queue run after that end.
// Rule: after a run has ended for its caller, none of its tools starts.
// Written in: guide Tool use, Handle tool calls; pydantic-ai#4502 is like it.

import { LoopError, serve } from './driver.mjs';

const CUT = ['max_tokens', 'model_context_window_exceeded'];
const GOES_ON = ['pause_turn', 'compaction'];

/** Runs one task after the other, whatever became of those before. */
class Queue {
  #last = Promise.resolve();

  add(task) {
    const result = this.#last.then(task);
    this.#last = result.catch(() => {});
    return result;
  }
}

function perform(tools, { id, name, input }) {
  const block = (content, is_error) => ({ type: 'tool_result', tool_use_id: id, is_error, ...(content && { content }) });
  const tool = tools.find((one) => one.name === name);
  if (!tool?.execute) return block(`There is no tool named ${name}`, true);
  if (input !== null && (typeof input !== 'object' || Array.isArray(input))) return block('The input has to be an object', true);
  return tool.execute(input ?? {}).then((value) => block(typeof value === 'string' ? value : JSON.stringify(value ?? null), false));
}

async function ask({ base_url, api_key, model, tools }, system, messages) {
  const offered = tools.map(({ name, description, parameters, strict }) => ({
    name,
    description,
    input_schema: { type: 'object', ...parameters },
    ...(strict && { strict }),
  }));
  const reply = await fetch(`${base_url}/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': api_key, 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({ model, max_tokens: 4096, messages, ...(system && { system }), ...(offered.length && { tools: offered }) }),
  });
  if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
  const message = await reply.json();
  if (!message.content) throw new LoopError('provider', message.error?.message ?? 'a reply without content');
  if (CUT.includes(message.stop_reason)) throw new LoopError('truncated', `the reply was cut: ${message.stop_reason}`);
  if (message.stop_reason === 'refusal') throw new LoopError('refusal', message.stop_details?.explanation ?? 'the model refused');
  return message;
}

async function run(given) {
  const system = given.messages.filter(({ role }) => role === 'system').map(({ content }) => content).join('\n\n');
  const messages = given.messages.filter(({ role }) => role !== 'system');
  for (let left = given.options.limit ?? 25; left > 0; left--) {
    const { content, stop_reason } = await ask(given, system, messages);
    const uses = stop_reason === 'tool_use' ? content.filter(({ type }) => type === 'tool_use') : [];
    if (!uses.length && !GOES_ON.includes(stop_reason))
      return content.filter(({ type }) => type === 'text').map(({ text }) => text).join('');
    const said = content.filter((block) => block.type !== 'text' || block.text.trim());
    if (said.length) messages.push({ role: 'assistant', content: said });
    const queue = new Queue();
    const results = await Promise.all(uses.map((use) => queue.add(() => perform(given.tools, use)))); // the fault
    if (results.length) messages.push({ role: 'user', content: results });
  }
  throw new LoopError('limit', 'the iteration limit was reached');
}

serve({ started: { name: 'messages-runs-on', wires: ['anthropic-messages'], capabilities: { limit: true, concurrent: true } }, run });
