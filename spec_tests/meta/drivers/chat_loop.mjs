// A loop over Chat Completions that is right on ordinary traffic, and its driver on the package. An argument names what
// the driver does otherwise: it ignores the signal, or it throws what a cancelled loop has thrown.

import { error, handlers, serve, started, value } from '../../../drivers/javascript/looptck-driver.mjs';

const WAY = process.argv[2] ?? '';
const sessions = new Map();

class LoopError extends Error {
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}

async function ask(scenario, messages, emit, signal) {
  const functions = scenario.tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  const offered = functions.map((one) => ({ type: 'function', function: one }));
  const asked = { model: scenario.model, messages, stream: scenario.stream, ...(offered.length && { tools: offered }) };
  const response = await fetch(`${scenario.base_url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${scenario.api_key}` },
    body: JSON.stringify(asked),
    signal,
  });
  if (!response.ok) throw new LoopError('provider', `HTTP ${response.status}`);
  const choice = scenario.stream ? await streamed(response.body, emit) : (await response.json()).choices?.[0];
  if (!choice?.message) throw new LoopError('provider', 'a reply without choices');
  if (choice.message.refusal) throw new LoopError('refusal', choice.message.refusal);
  if (['length', 'content_filter'].includes(choice.finish_reason)) throw new LoopError('truncated', choice.finish_reason);
  return choice.message;
}

async function streamed(body, emit) {
  const message = { role: 'assistant', content: '' };
  const calls = [];
  let finish_reason;
  for await (const data of events(body)) {
    if (data === '[DONE]') break;
    const chunk = JSON.parse(data);
    if (chunk.error) throw new LoopError('provider', chunk.error.message);
    const { delta = {}, finish_reason: finish } = chunk.choices?.[0] ?? {};
    if (delta.content) emit(delta.content);
    for (const name of ['content', 'refusal']) if (delta[name]) message[name] = (message[name] ?? '') + delta[name];
    for (const piece of delta.tool_calls ?? []) {
      calls[piece.index] ??= { id: piece.id, type: 'function', function: { name: '', arguments: '' } };
      calls[piece.index].function.name ||= piece.function?.name ?? '';
      calls[piece.index].function.arguments += piece.function?.arguments ?? '';
    }
    finish_reason ||= finish;
  }
  if (!finish_reason) throw new LoopError('stream', 'the stream ended without a finish reason');
  if (calls.length) message.tool_calls = calls.filter(Boolean);
  return { message, finish_reason };
}

// The data of the events of a stream, each of which is one line here.
async function* events(body) {
  let rest = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split(/\r?\n/);
    rest = lines.pop();
    for (const line of lines) if (line.startsWith('data:')) yield line.slice(5).trim();
  }
}

async function call(functions, { function: { name, arguments: text } }) {
  if (!functions[name]) return `Error: there is no tool ${name}`;
  try {
    const args = JSON.parse(text || '{}');
    if (!args || typeof args !== 'object' || Array.isArray(args)) return 'Error: the arguments are no object';
    const found = await functions[name](args);
    return typeof found === 'string' ? found : JSON.stringify(found);
  } catch (exception) {
    return `Error: ${exception.name}: ${exception.message}`;
  }
}

async function loop(scenario, functions, emit, signal) {
  const messages = [...(sessions.get(scenario.conversation) ?? []), ...scenario.messages];
  for (let left = scenario.options.limit ?? 25; left > 0; left--) {
    const message = await ask(scenario, messages, emit, signal);
    messages.push(message);
    if (!message.tool_calls?.length) {
      if (scenario.conversation) sessions.set(scenario.conversation, messages);
      return message.content;
    }
    for (const one of message.tool_calls) {
      signal?.throwIfAborted();
      const content = await call(functions, one);
      messages.push({ role: 'tool', tool_call_id: one.id, content });
    }
    signal?.throwIfAborted();
  }
  throw new LoopError('limit', 'the iteration limit was reached');
}

await serve({
  start() {
    console.log('a line that somebody prints');
    const able = { stream: true, chunks: true, limit: true, concurrent: true, conversations: true, cancel: true };
    return started({ name: 'chat loop', version: '1', wires: ['openai-chat'], ...able });
  },
  async run(scenario, emit, signal) {
    try {
      return value(await loop(scenario, handlers(scenario), emit, WAY === 'ignores-the-signal' ? undefined : signal));
    } catch (exception) {
      if (WAY === 'throws-when-cancelled' && signal.aborted) throw exception;
      return error(exception, { reason: exception.reason });
    }
  },
});
