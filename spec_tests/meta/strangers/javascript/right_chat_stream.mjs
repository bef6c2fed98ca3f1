// No fault: a Chat Completions loop over fetch, with streaming, as the vendor documents it. A control for false alarms.
// Rules kept: OpenAI API reference, Chat Completions (create, streaming); Function calling guide; WHATWG HTML §9.2.6.

import { randomUUID } from 'node:crypto';
import { LoopError, serve } from './driver.mjs';

async function* dataOf(body) {
  let rest = '';
  let data = [];
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const lines = rest.slice(0, rest.endsWith('\r') ? -1 : undefined).split(/\r\n|\n|\r/); // a last CR may be half of a CRLF
    rest = lines.pop() + (rest.endsWith('\r') ? '\r' : '');
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
      else if (line === '' && data.length) {
        yield data.join('\n');
        data = [];
      }
    }
  }
}

function findCall(calls, piece) {
  let call = piece.index == null && piece.id ? calls.find((one) => one.id === piece.id) : undefined;
  call ??= calls.findLast((one) => one.index === (piece.index ?? null));
  if (call && !(piece.id && call.id && piece.id !== call.id)) return call;
  call = { index: piece.index ?? null, id: '', type: 'function', function: { name: '', arguments: '' } };
  calls.push(call);
  return call;
}

function addPiece(call, { index, id, type, function: fn, ...extras }) {
  call.id ||= id || '';
  call.type = type || call.type;
  if (fn?.name && fn.name !== call.function.name) call.function.name += fn.name;
  const text = fn?.arguments == null ? '' : typeof fn.arguments === 'string' ? fn.arguments : JSON.stringify(fn.arguments);
  // Some gateways write {} before the arguments.
  if (call.function.arguments === '{}' && text.trimStart().startsWith('{')) call.function.arguments = '';
  call.function.arguments += text;
  for (const [key, value] of Object.entries(extras)) if (value != null) call[key] = value;
}

async function readStream(reply, emit) {
  const message = { role: 'assistant', content: null };
  const calls = [];
  let finish;
  for await (const data of dataOf(reply.body)) {
    if (data === '[DONE]') break;
    const chunk = JSON.parse(data);
    if (chunk.error) throw new LoopError('provider', chunk.error.message ?? JSON.stringify(chunk.error));
    const choice = chunk.choices?.[0];
    if (!choice) continue;
    const { role, tool_calls, ...texts } = choice.delta ?? {};
    for (const piece of tool_calls ?? []) addPiece(findCall(calls, piece), piece);
    for (const [key, value] of Object.entries(texts))
      if (typeof value === 'string' && value) message[key] = (message[key] ?? '') + value;
    if (texts.content) emit(texts.content);
    finish ||= choice.finish_reason;
  }
  if (!finish) throw new LoopError('stream', 'the stream ended without a finish reason');
  if (calls.length) message.tool_calls = calls.map(({ index, ...call }) => call);
  return { message, finish };
}

async function ask(given, messages, emit) {
  const body = { model: given.model, messages };
  if (given.stream) body.stream = true;
  if (given.tools.length)
    body.tools = given.tools.map(({ name, description, parameters, strict }) => ({
      type: 'function',
      function: { name, description, parameters, ...(strict && { strict }) },
    }));
  const reply = await fetch(`${given.base_url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${given.api_key}` },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
  if (given.stream) return readStream(reply, emit);
  const whole = await reply.json();
  const choice = whole.choices?.[0];
  if (!choice?.message) throw new LoopError('provider', whole.error?.message ?? 'a reply without choices');
  return { message: { ...choice.message, role: 'assistant' }, finish: choice.finish_reason };
}

function mend(call) {
  call.id ||= `call_${randomUUID()}`;
  if (!call.function) return;
  const text = call.function.arguments ?? '';
  call.function.arguments = typeof text === 'string' ? text : JSON.stringify(text);
}

async function runCall(tools, call) {
  const tool = tools.find((one) => one.name === call.function?.name);
  if (!tool?.execute) return `Error: there is no tool named ${call.function?.name ?? call.custom?.name}`;
  try {
    const args = call.function.arguments.trim() ? JSON.parse(call.function.arguments) : {};
    if (args === null || typeof args !== 'object' || Array.isArray(args))
      return 'Error: the arguments have to be a JSON object';
    const value = await tool.execute(args);
    return typeof value === 'string' ? value : JSON.stringify(value ?? null);
  } catch (error) {
    return `Error: ${error.name}: ${error.message}`;
  }
}

async function run(given, emit) {
  const messages = [...given.messages];
  for (let left = given.options.limit ?? 25; left > 0; left--) {
    const { message, finish } = await ask(given, messages, emit);
    if (message.refusal) throw new LoopError('refusal', message.refusal);
    if (finish === 'length' || finish === 'content_filter') throw new LoopError('truncated', `the reply was cut: ${finish}`);
    if (!message.tool_calls?.length) return message.content ?? '';
    message.tool_calls.forEach(mend);
    messages.push(message);
    for (const call of message.tool_calls)
      messages.push({ role: 'tool', tool_call_id: call.id, content: await runCall(given.tools, call) });
  }
  throw new LoopError('limit', 'the iteration limit was reached');
}

serve({
  started: {
    name: 'right-chat-stream',
    wires: ['openai-chat'],
    capabilities: { stream: true, chunks: true, limit: true, concurrent: true },
  },
  run,
});
