// A loop over Chat Completions with fetch alone. It is right on ordinary traffic.

export class LoopError extends Error {
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}
export class TooManyTurns extends Error {}

async function ask({ baseURL, apiKey, model, messages, tools }, onText, signal) {
  const functions = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  const offered = functions.map((one) => ({ type: 'function', function: one }));
  const asked = { model, messages, stream: Boolean(onText), ...(offered.length && { tools: offered }) };
  const response = await fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: JSON.stringify(asked),
    signal,
  });
  if (!response.ok) throw new LoopError('provider', `HTTP ${response.status}`);
  const choice = onText ? await streamed(response.body, onText) : (await response.json()).choices?.[0];
  if (!choice?.message) throw new LoopError('provider', 'a reply without choices');
  if (choice.message.refusal) throw new LoopError('refusal', choice.message.refusal);
  if (['length', 'content_filter'].includes(choice.finish_reason)) throw new LoopError('truncated', choice.finish_reason);
  return choice.message;
}

async function streamed(body, onText) {
  const message = { role: 'assistant', content: '' };
  const calls = [];
  let finish_reason;
  for await (const data of events(body)) {
    if (data === '[DONE]') break;
    const chunk = JSON.parse(data);
    if (chunk.error) throw new LoopError('provider', chunk.error.message);
    const { delta = {}, finish_reason: finish } = chunk.choices?.[0] ?? {};
    if (delta.content) onText(delta.content);
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

async function call(tools, { function: { name, arguments: text } }) {
  const tool = tools.find((one) => one.name === name);
  if (!tool?.execute) return `Error: there is no tool ${name}`;
  try {
    const args = JSON.parse(text || '{}');
    if (!args || typeof args !== 'object' || Array.isArray(args)) return 'Error: the arguments are no object';
    const found = await tool.execute(args);
    return typeof found === 'string' ? found : JSON.stringify(found);
  } catch (exception) {
    return `Error: ${exception.name}: ${exception.message}`;
  }
}

// The final text; `messages` then has everything that was said.
export async function runLoop(asked, { maxTurns = 25, onText, signal } = {}) {
  for (let left = maxTurns; left > 0; left--) {
    const message = await ask(asked, onText, signal);
    asked.messages.push(message);
    for (const one of message.tool_calls ?? []) {
      signal?.throwIfAborted();
      asked.messages.push({ role: 'tool', tool_call_id: one.id, content: await call(asked.tools, one) });
    }
    if (!message.tool_calls?.length) return message.content;
    signal?.throwIfAborted();
  }
  throw new TooManyTurns('the limit was reached');
}
