// Fault: an `error` event in a stream ends it like message_stop, and the text so far is the answer.
// Rule: an error can arrive after the 200, as an event of the stream; the reply has then failed.
// Written in: Anthropic docs, Streaming Messages, Error events; Errors (errors after a 200 response when streaming).
// Reported like it: Pasta-Devs/Marinara-Engine#2659, brightwave-inc/tidebreak#1122, karthink/gptel#1512.

import { LoopError, serve } from './driver.mjs';
import { dataOf } from './sse.mjs';

const put = (list, at, item) => Object.assign([...list], { [at]: item });
const join = (block, key, text) => ({ ...block, [key]: (block[key] ?? '') + text });

const DELTAS = {
  text_delta: (block, delta) => join(block, 'text', delta.text),
  thinking_delta: (block, delta) => join(block, 'thinking', delta.thinking),
  signature_delta: (block, delta) => join(block, 'signature', delta.signature),
  citations_delta: (block, delta) => ({ ...block, citations: [...(block.citations ?? []), delta.citation] }),
};

function reduce(state, event) {
  switch (event.type) {
    case 'message_start':
      return { ...state, ...event.message, content: [] };
    case 'content_block_start':
      return { ...state, content: put(state.content, event.index, event.content_block) };
    case 'content_block_delta': {
      const { index, delta } = event;
      if (delta.type === 'input_json_delta')
        return { ...state, raw: put(state.raw, index, (state.raw[index] ?? '') + delta.partial_json) };
      const step = DELTAS[delta.type];
      return step ? { ...state, content: put(state.content, index, step(state.content[index], delta)) } : state;
    }
    case 'message_delta':
      return { ...state, ...Object.fromEntries(Object.entries(event.delta ?? {}).filter(([, value]) => value != null)) };
    case 'error': // the fault
    case 'message_stop':
      return { ...state, done: true };
    default:
      return state;
  }
}

function withInput(block, raw) {
  if (!raw?.trim()) return block;
  try {
    return { ...block, input: JSON.parse(raw) };
  } catch {
    return { ...block, input: { INVALID_JSON: raw } };
  }
}

async function readStream(body, emit) {
  let state = { raw: [], content: [] };
  for await (const data of dataOf(body)) {
    const event = JSON.parse(data);
    state = reduce(state, event);
    if (event.delta?.type === 'text_delta' && event.delta.text) emit(event.delta.text);
    if (state.done) return { ...state, content: state.content.map((block, at) => withInput(block, state.raw[at])).filter(Boolean) };
  }
  throw new LoopError('stream', 'the stream ended before the message did');
}

async function useTool(tools, { id, name, input, toolset_name }) {
  const result = { type: 'tool_result', tool_use_id: id, ...(toolset_name && { toolset_name }) };
  const failed = (content) => ({ ...result, content, is_error: true });
  const { execute } = tools.find((tool) => tool.name === name) ?? {};
  if (!execute) return failed(`There is no tool named ${name}`);
  if (input?.INVALID_JSON !== undefined) return failed(JSON.stringify(input));
  if (typeof (input ?? {}) !== 'object' || Array.isArray(input)) return failed('The input has to be an object');
  return execute(input ?? {}).then(
    (value) => (value === '' ? result : { ...result, content: typeof value === 'string' ? value : JSON.stringify(value ?? null) }),
    (error) => failed(`${error.name}: ${error.message}`),
  );
}

async function run({ base_url, api_key, stream, model, messages: given, tools, options }, emit) {
  const headers = { 'content-type': 'application/json', 'x-api-key': api_key, 'anthropic-version': '2023-06-01' };
  const body = { model, stream, max_tokens: 4096, messages: given.filter((one) => one.role !== 'system') };
  const system = given.filter((one) => one.role === 'system').map((one) => one.content).join('\n\n');
  if (system) body.system = system;
  if (tools.length)
    body.tools = tools.map(({ name, description, parameters, strict }) => ({
      name, description, input_schema: { type: 'object', ...parameters }, ...(strict && { strict }) }));
  for (let left = options.limit ?? 25; left > 0; left--) {
    const reply = await fetch(`${base_url}/messages`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
    const message = stream ? await readStream(reply.body, emit) : await reply.json();
    const { content, stop_reason: stop, container } = message;
    if (!content) throw new LoopError('provider', message.error?.message ?? 'a reply without content');
    if (/^(max_tokens|model_context_window_exceeded)$/.test(stop)) throw new LoopError('truncated', `cut: ${stop}`);
    if (stop === 'refusal') throw new LoopError('refusal', message.stop_details?.explanation ?? 'the model refused');
    const paused = /^(pause_turn|compaction)$/.test(stop);
    if (stop !== 'tool_use' && !paused) return content.filter((one) => one.type === 'text').map((one) => one.text).join('');
    const uses = paused ? [] : content.filter((one) => one.type === 'tool_use');
    if (!paused && !uses.length) throw new LoopError('provider', 'the model stopped for tools and called none');
    if (container) body.container = container.id;
    const echo = content.filter((one) => one.type !== 'text' || one.text.trim()); // blank text is not taken back
    if (echo.length) body.messages.push({ role: 'assistant', content: echo });
    const results = [];
    for (const block of uses) results.push(await useTool(tools, block));
    if (results.length) body.messages.push({ role: 'user', content: results });
  }
  throw new LoopError('limit', 'the iteration limit was reached');
}

const capabilities = { stream: true, chunks: true, limit: true, concurrent: true };
serve({ started: { name: 'messages-error-event', wires: ['anthropic-messages'], capabilities }, run });
