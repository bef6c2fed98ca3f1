// Fault: text deltas of a stream that are only white space are dropped, from the answer and from the history.
// Rule: the text of a block is the concatenation of its text_deltas; a delta may be a single space or line break.
// Written in: Anthropic docs, Streaming Messages, Content block delta types, Text delta.
// Reported like it: zavora-ai/adk-rust#444, waybarrios/vllm-mlx#431, spacedriveapp/spacebot#413.

import { LoopError, serve } from './driver.mjs';
import { dataOf } from './sse.mjs';

/** Events in, one whole message out; text leaves by `emit` on its way. */
const assembly = (emit) => {
  const blocks = [], inputs = [];
  let message, stopped = false;
  return new TransformStream({
    transform({ type, index, delta, ...event }, controller) {
      if (type === 'error') throw new LoopError('provider', event.error?.message ?? 'the stream reported an error');
      else if (type === 'message_start') message = { ...event.message };
      else if (type === 'content_block_start') blocks[index] = { ...event.content_block };
      else if (type === 'message_delta')
        for (const [key, value] of Object.entries(delta ?? {})) message[key] = value ?? message[key];
      else if (type === 'message_stop') {
        stopped = true;
        for (const at of inputs.keys()) {
          if (!inputs[at]?.trim()) continue;
          try {
            blocks[at].input = JSON.parse(inputs[at]);
          } catch {
            blocks[at].input = { INVALID_JSON: inputs[at] };
            Object.defineProperty(blocks[at], 'unreadable', { value: true });
          }
        }
        controller.enqueue({ ...message, content: blocks.filter(Boolean) });
      } else if (type === 'content_block_delta') {
        const block = blocks[index];
        if (delta.type === 'text_delta' && delta.text.trim()) { // the fault
          block.text += delta.text;
          emit(delta.text);
        } else if (delta.type === 'input_json_delta') inputs[index] = (inputs[index] ?? '') + delta.partial_json;
        else if (delta.type === 'thinking_delta') block.thinking = (block.thinking ?? '') + delta.thinking;
        else if (delta.type === 'signature_delta') block.signature = (block.signature ?? '') + delta.signature;
        else if (delta.type === 'citations_delta') (block.citations ??= []).push(delta.citation);
      }
    },
    flush() {
      if (!stopped) throw new LoopError('stream', 'the stream ended before the message did');
    },
  });
};

async function ask({ base_url, api_key, stream, ...body }, emit) {
  const headers = { 'content-type': 'application/json', 'x-api-key': api_key, 'anthropic-version': '2023-06-01' };
  const reply = await fetch(`${base_url}/messages`, { method: 'POST', headers, body: JSON.stringify({ ...body, stream }) });
  if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
  if (!stream) return reply.json();
  const events = ReadableStream.from(dataOf(reply.body)).pipeThrough(
    new TransformStream({ transform: (data, controller) => controller.enqueue(JSON.parse(data)) }),
  );
  for await (const message of events.pipeThrough(assembly(emit))) return message;
}

async function useTool(tools, block) {
  const result = { type: 'tool_result', tool_use_id: block.id, ...(block.toolset_name && { toolset_name: block.toolset_name }) };
  const tool = tools.find(({ name }) => name === block.name);
  try {
    if (!tool?.execute) throw new Error(`there is no tool named ${block.name}`);
    if (block.unreadable) throw new SyntaxError(JSON.stringify(block.input));
    if (typeof (block.input ?? {}) !== 'object' || Array.isArray(block.input)) throw new TypeError('the input has to be an object');
    const value = await tool.execute(block.input ?? {});
    const content = typeof value === 'string' ? value : JSON.stringify(value ?? null);
    return content ? { ...result, content } : result;
  } catch (error) {
    return { ...result, is_error: true, content: `${error.name}: ${error.message}` };
  }
}

async function run({ base_url, api_key, stream, model, messages: given, tools, options }, emit) {
  const request = { base_url, api_key, stream, model, max_tokens: 4096, messages: given.filter((one) => one.role !== 'system') };
  if (request.messages.length < given.length)
    request.system = given.filter((one) => one.role === 'system').map((one) => one.content).join('\n\n');
  if (tools.length)
    request.tools = tools.map(({ name, description, parameters, strict }) => ({
      name, description, input_schema: { type: 'object', ...parameters }, ...(strict && { strict }) }));
  for (let left = options.limit ?? 25; left > 0; left--) {
    const { content, stop_reason: stop, stop_details, container, error } = await ask(request, emit);
    if (!content) throw new LoopError('provider', error?.message ?? 'a reply without content');
    if (['max_tokens', 'model_context_window_exceeded'].includes(stop)) throw new LoopError('truncated', `cut: ${stop}`);
    if (stop === 'refusal') throw new LoopError('refusal', stop_details?.explanation ?? 'the model refused');
    const paused = ['pause_turn', 'compaction'].includes(stop);
    if (stop !== 'tool_use' && !paused) return content.filter((one) => one.type === 'text').map((one) => one.text).join('');
    const uses = paused ? [] : content.filter((one) => one.type === 'tool_use');
    if (!paused && !uses.length) throw new LoopError('provider', 'the model stopped for tools and called none');
    if (container) request.container = container.id;
    const echo = content.filter((one) => one.type !== 'text' || one.text.trim()); // the service takes no blank text back
    if (echo.length) request.messages.push({ role: 'assistant', content: echo });
    const results = [];
    for (const block of uses) results.push(await useTool(tools, block));
    if (results.length) request.messages.push({ role: 'user', content: results });
  }
  throw new LoopError('limit', 'the iteration limit was reached');
}

const capabilities = { stream: true, chunks: true, limit: true, concurrent: true };
serve({ started: { name: 'messages-whitespace-deltas', wires: ['anthropic-messages'], capabilities }, run });
