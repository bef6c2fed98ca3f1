// Fault: a delta without `tool_calls` gets a default, but `tool_calls: null` crashes the run.
// Rule: a null member of a delta counts as absent.
// Written in: OpenAI API reference, Chat Completions, The chat completion chunk object (delta.content is null too);
// ECMAScript, destructuring defaults (undefined only). Reported like it: earendil-works/pi#4228 (a comment: null, "not iterable").

import { LoopError, serve } from './driver.mjs';
import { dataOf } from './sse.mjs';

async function* turn(given, messages) {
  const tools = given.tools.map(({ name, description, parameters, strict }) => ({
    type: 'function', function: { name, description, parameters, ...(strict && { strict }) } }));
  const reply = await fetch(`${given.base_url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${given.api_key}` },
    body: JSON.stringify({ model: given.model, messages, stream: given.stream, ...(tools.length && { tools }) }),
  });
  if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
  if (!given.stream) {
    const { choices, error } = await reply.json();
    if (!choices?.[0]?.message) throw new LoopError('provider', error?.message ?? 'a reply without choices');
    return choices[0];
  }
  const message = { role: 'assistant', content: null };
  const calls = new Map(); // by index, or by id where there is none
  let finish, last;
  for await (const data of dataOf(reply.body)) {
    if (data === '[DONE]') break;
    const chunk = JSON.parse(data);
    if (chunk.error) throw new LoopError('provider', chunk.error.message ?? JSON.stringify(chunk.error));
    const choice = chunk.choices?.[0];
    const delta = choice?.delta ?? {};
    const { tool_calls: pieces = [] } = delta; // the fault
    finish ||= choice?.finish_reason;
    for (const key of ['content', 'refusal', 'reasoning_content']) if (delta[key]) message[key] = (message[key] ?? '') + delta[key];
    if (delta.content) yield delta.content;
    for (const { index, id, type, function: fn, ...extras } of pieces) {
      let key = index ?? (id || last);
      if (id && calls.get(key)?.id && calls.get(key).id !== id) key = id; // two calls at one index
      else if (!id && last !== undefined && calls.get(last)?.at === index) key = last;
      last = key;
      if (!calls.has(key)) calls.set(key, { at: index, id: '', type: 'function', function: { name: '', arguments: '' } });
      const call = Object.assign(calls.get(key), extras);
      call.id ||= id ?? '';
      if (fn?.name && fn.name !== call.function.name) call.function.name += fn.name;
      const more = fn?.arguments ?? '';
      call.function.arguments += typeof more === 'string' ? more : JSON.stringify(more);
    }
  }
  if (!finish) throw new LoopError('stream', 'the stream ended without a finish reason');
  if (calls.size) message.tool_calls = [...calls.values()].map(({ at, ...call }) => call);
  return { message, finish_reason: finish };
}

async function answerTo(tools, { function: fn, custom }) {
  const tool = tools.find(({ name }) => name === fn?.name);
  if (!tool?.execute) return `Error: there is no tool named ${fn?.name ?? custom?.name}`;
  try {
    const args = fn.arguments.trim() ? JSON.parse(fn.arguments) : {};
    if (args === null || typeof args !== 'object' || Array.isArray(args)) throw new TypeError('arguments have to be an object');
    const value = await tool.execute(args);
    return typeof value === 'string' ? value : JSON.stringify(value ?? null);
  } catch (error) {
    return `Error: ${error.name}: ${error.message}`;
  }
}

async function* loop(given) {
  const messages = [...given.messages];
  for (let left = given.options.limit ?? 25; left > 0; left--) {
    const { message, finish_reason: finish } = yield* turn(given, messages);
    if (message.refusal) throw new LoopError('refusal', message.refusal);
    if (finish === 'length' || finish === 'content_filter') throw new LoopError('truncated', `cut: ${finish}`);
    if (!message.tool_calls?.length) return message.content ?? '';
    for (const call of message.tool_calls) {
      call.id ||= `call_${crypto.randomUUID()}`;
      const fn = call.function;
      if (fn && typeof fn.arguments !== 'string') fn.arguments = JSON.stringify(fn.arguments ?? {});
    }
    messages.push({ ...message, role: 'assistant' });
    for (const call of message.tool_calls) messages.push({ role: 'tool', tool_call_id: call.id, content: await answerTo(given.tools, call) });
  }
  throw new LoopError('limit', 'the iteration limit was reached');
}

async function run(given, emit) {
  const steps = loop(given);
  let step;
  while (!(step = await steps.next()).done) emit(step.value);
  return step.value;
}

const capabilities = { stream: true, chunks: true, limit: true, concurrent: true };
serve({ started: { name: 'chat-null-tool-calls', wires: ['openai-chat'], capabilities }, run });
