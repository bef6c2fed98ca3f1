// Fault: characters that the service does not allow in tool names become "_"; of two names that become equal, the last one's handler runs.
// Rule: a call runs the tool that was offered under its name; names that become equal are kept distinct, or are an error.
// Written in: Messages API reference, tools (name: ^[a-zA-Z0-9_-]{1,128}$, unique); guide Tool use.

import { LoopError, serve } from './driver.mjs';

const CUT = ['max_tokens', 'model_context_window_exceeded'];
const GOES_ON = ['pause_turn', 'compaction'];
const legal = (name) => name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 128);

async function perform(tool, { id, input, name }) {
  const block = (content, is_error) => ({ type: 'tool_result', tool_use_id: id, is_error, ...(content && { content }) });
  if (!tool?.execute) return block(`There is no tool named ${name}`, true);
  if (input !== null && (typeof input !== 'object' || Array.isArray(input))) return block('The input has to be an object', true);
  try {
    const value = await tool.execute(input ?? {});
    return block(typeof value === 'string' ? value : JSON.stringify(value ?? null), false);
  } catch (error) {
    return block(`${error.name}: ${error.message}`, true);
  }
}

async function* turns({ base_url, api_key, model, options }, body) {
  for (let left = options.limit ?? 25; left > 0; left--) {
    const reply = await fetch(`${base_url}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': api_key, 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model, max_tokens: 4096, ...body }),
    });
    if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
    const { content, stop_reason, stop_details, error } = await reply.json();
    if (!content) throw new LoopError('provider', error?.message ?? 'a reply without content');
    if (CUT.includes(stop_reason)) throw new LoopError('truncated', `the reply was cut: ${stop_reason}`);
    if (stop_reason === 'refusal') throw new LoopError('refusal', stop_details?.explanation ?? 'the model refused');
    yield { content, stop_reason };
  }
  throw new LoopError('limit', 'the iteration limit was reached');
}

async function run(given) {
  const handlers = Object.fromEntries(given.tools.map((tool) => [legal(tool.name), tool])); // the fault
  const system = given.messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const messages = given.messages.filter(({ role }) => role !== 'system');
  const tools = Object.entries(handlers).map(([name, { description, parameters, strict }]) => ({
    name,
    description,
    input_schema: { type: 'object', ...parameters },
    ...(strict && { strict }),
  }));
  const body = { messages, ...(system.length && { system: system.join('\n\n') }), ...(tools.length && { tools }) };
  for await (const { content, stop_reason } of turns(given, body)) {
    const uses = stop_reason === 'tool_use' ? content.filter(({ type }) => type === 'tool_use') : [];
    if (!uses.length && !GOES_ON.includes(stop_reason))
      return content.filter(({ type }) => type === 'text').map(({ text }) => text).join('');
    const said = content.filter((block) => block.type !== 'text' || block.text.trim());
    if (said.length) messages.push({ role: 'assistant', content: said });
    const results = [];
    for (const use of uses) results.push(await perform(Object.hasOwn(handlers, use.name) ? handlers[use.name] : null, use));
    if (results.length) messages.push({ role: 'user', content: results });
  }
}

const capabilities = { limit: true, concurrent: true };
serve({ started: { name: 'messages-names-fall-together', wires: ['anthropic-messages'], capabilities }, run });
