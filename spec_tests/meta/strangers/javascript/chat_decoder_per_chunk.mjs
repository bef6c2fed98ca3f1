// Fault: each network chunk of a stream is decoded separately, so a character whose bytes are in two chunks becomes U+FFFD.
// Rule: an event stream is decoded as one UTF-8 stream; the boundaries of network chunks have no meaning.
// Written in: WHATWG HTML §9.2.6 (Interpreting an event stream); MDN TextDecoder.decode, option stream.
// Reported like it: ollama/ollama-js#255, googleapis/js-genai#765, braintrustdata/braintrust-sdk-javascript#2091.

import { LoopError, serve } from './driver.mjs';

async function readStream(body, emit) {
  const message = { role: 'assistant', content: null };
  const calls = [];
  let finish, rest = '', data = [];
  reading: for await (const bytes of body) {
    rest += new TextDecoder().decode(bytes); // the fault
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(5).trim());
      if (line !== '' || !data.length) continue;
      const text = data.splice(0).join('\n');
      if (text === '[DONE]') break reading;
      const { error, choices } = JSON.parse(text);
      if (error) throw new LoopError('provider', error.message ?? JSON.stringify(error));
      const { tool_calls: pieces, role, ...texts } = choices?.[0]?.delta ?? {};
      finish ||= choices?.[0]?.finish_reason;
      for (const [key, text] of Object.entries(texts))
        if (typeof text === 'string' && text) message[key] = (message[key] ?? '') + text;
      if (texts.content) emit(texts.content);
      for (const { index, id, type, function: fn, ...extras } of pieces ?? []) {
        let call = calls.findLast((one) => (index == null && id ? one.call.id === id : one.index === index));
        call ??= index == null && !id ? calls.at(-1) : undefined;
        if (!call || (id && call.call.id && call.call.id !== id))
          calls.push((call = { index, call: { id: '', type: 'function', function: { name: '', arguments: '' } } }));
        Object.assign(call.call, extras, { id: call.call.id || id || '' });
        if (fn?.name && fn.name !== call.call.function.name) call.call.function.name += fn.name;
        const more = fn?.arguments ?? '';
        call.call.function.arguments += typeof more === 'string' ? more : JSON.stringify(more);
      }
    }
  }
  if (!finish) throw new LoopError('stream', 'the stream ended without a finish reason');
  if (calls.length) message.tool_calls = calls.map(({ call }) => call);
  return { message, finish_reason: finish };
}

async function result(tools, { function: fn, custom }) {
  const tool = tools.find((one) => one.name === fn?.name);
  if (!tool?.execute) return `Error: there is no tool named ${fn?.name ?? custom?.name}`;
  try {
    const args = fn.arguments.trim() ? JSON.parse(fn.arguments) : {};
    if (Object.prototype.toString.call(args) !== '[object Object]') return 'Error: arguments have to be an object';
    const value = await tool.execute(args);
    return typeof value === 'string' ? value : JSON.stringify(value ?? null);
  } catch (error) {
    return `Error: ${error.name}: ${error.message}`;
  }
}

async function converse(given, messages, left, emit) {
  if (left <= 0) throw new LoopError('limit', 'the iteration limit was reached');
  const tools = given.tools.map(({ name, description, parameters, strict }) => ({
    type: 'function', function: { name, description, parameters, ...(strict && { strict }) } }));
  const reply = await fetch(`${given.base_url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${given.api_key}` },
    body: JSON.stringify({ model: given.model, messages, stream: given.stream, ...(tools.length && { tools }) }),
  });
  if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
  const whole = given.stream ? { choices: [await readStream(reply.body, emit)] } : await reply.json();
  const { message, finish_reason: finish } = whole.choices?.[0] ?? {};
  if (!message) throw new LoopError('provider', whole.error?.message ?? 'a reply without choices');
  if (message.refusal) throw new LoopError('refusal', message.refusal);
  if (finish === 'length' || finish === 'content_filter') throw new LoopError('truncated', `cut: ${finish}`);
  if (!message.tool_calls?.length) return message.content ?? '';
  for (const call of message.tool_calls) {
    call.id ||= `call_${crypto.randomUUID()}`;
    const fn = call.function;
    if (fn && typeof fn.arguments !== 'string') fn.arguments = JSON.stringify(fn.arguments ?? {});
  }
  const answers = [];
  for (const call of message.tool_calls)
    answers.push({ role: 'tool', tool_call_id: call.id, content: await result(given.tools, call) });
  return converse(given, [...messages, { ...message, role: 'assistant' }, ...answers], left - 1, emit);
}

serve({
  started: { name: 'chat-decoder-per-chunk', wires: ['openai-chat'], capabilities: { stream: true, chunks: true, limit: true, concurrent: true } },
  run: (given, emit) => converse(given, given.messages, given.options.limit ?? 25, emit),
});
