// No fault: Messages over node:http with a parser of its own; calls of a turn by Promise.allSettled.
import { error, handlers, serve, started, value } from '../../../../drivers/javascript/looptck-driver.mjs';
import http from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { StringDecoder } from 'node:string_decoder';

class Halted extends Error {
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}

async function post({ base_url, api_key }, body, signal) {
  const headers = { 'x-api-key': api_key, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' };
  const request = http.request(`${base_url}/messages`, { method: 'POST', headers, signal });
  request.end(JSON.stringify(body));
  const [reply] = await once(request, 'response');
  return reply;
}

async function text(reply) {
  const pieces = [];
  for await (const piece of reply) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

async function patient(scenario, body, signal) {
  for (let tried = 1; ; tried++) {
    const reply = await post(scenario, body, signal);
    if (reply.statusCode === 200) return reply;
    const said = await text(reply);
    const busy = [408, 409, 429].includes(reply.statusCode) || reply.statusCode >= 500;
    if (!busy || tried === 3) throw new Halted('provider', `${reply.statusCode}: ${said}`);
    const wanted = parseFloat(reply.headers['retry-after']);
    await sleep(wanted >= 0 ? 1000 * wanted : 150 * tried, undefined, { signal });
  }
}

// Events of a stream: the data of each. A line ends with CR, LF or CRLF.
class Parser {
  #decoder = new StringDecoder('utf8');
  #rest = '';
  #data = [];
  #begun = false;
  feed(piece) {
    this.#rest += this.#decoder.write(piece);
    if (!this.#begun && this.#rest) {
      this.#begun = true;
      if (this.#rest[0] === '\uFEFF') this.#rest = this.#rest.slice(1);
    }
    const found = [];
    for (let match; (match = /^([^\r\n]*)(\r\n|\n|\r(?=[^]))/.exec(this.#rest)); this.#rest = this.#rest.slice(match[0].length)) {
      if (match[1] === '' && this.#data.length) found.push(this.#data.splice(0).join('\n'));
      const [, said] = /^data(?:: ?(.*))?$/s.exec(match[1]) ?? [];
      if (match[1].startsWith('data')) this.#data.push(said ?? '');
    }
    return found;
  }
}

async function* events(reply) {
  const parser = new Parser();
  for await (const piece of reply) for (const data of parser.feed(piece)) yield JSON.parse(data);
}

async function built(reply, emit) {
  let message;
  const inputs = new Map();
  for await (const event of events(reply)) {
    const block = message?.content[event.index];
    switch (event?.type) {
      case 'message_start':
        message = { ...event.message, content: [] };
        break;
      case 'content_block_start':
        message.content[event.index] = { ...event.content_block };
        if (event.content_block.type === 'text' && event.content_block.text) emit(event.content_block.text);
        break;
      case 'content_block_delta':
        added(block, event, inputs, emit);
        break;
      case 'content_block_stop':
        if (inputs.get(event.index)) block.input = read(inputs.get(event.index));
        break;
      case 'message_delta':
        message = { ...message, ...event.delta };
        break;
      case 'error':
        throw new Halted('stream', JSON.stringify(event.error));
      case 'message_stop':
        return message;
    }
  }
  throw new Halted('stream', 'the message has no end');
}

function added(block, { index, delta }, inputs, emit) {
  if (delta.type === 'text_delta') {
    block.text += delta.text;
    emit(delta.text);
  }
  if (delta.type === 'thinking_delta') block.thinking += delta.thinking;
  if (delta.type === 'signature_delta') block.signature = (block.signature ?? '') + delta.signature;
  if (delta.type === 'citations_delta') block.citations = [...(block.citations ?? []), delta.citation];
  if (delta.type === 'input_json_delta') inputs.set(index, (inputs.get(index) ?? '') + delta.partial_json);
}

// An input that cannot be read goes back as an empty object; what came instead is kept aside.
const unreadable = new WeakMap();
function read(said) {
  let input;
  try {
    input = JSON.parse(said);
  } catch {}
  if (input && typeof input === 'object' && !Array.isArray(input)) return input;
  unreadable.set((input = {}), said);
  return input;
}

async function used(functions, { name, input }, signal) {
  if (unreadable.has(input)) throw new Error(`I could not read ${unreadable.get(input)}`);
  if (!functions[name]) throw new Error(`I do not have ${name}`);
  const found = await functions[name](input, { signal });
  return typeof found === 'string' ? found : JSON.stringify(found);
}

async function answer(scenario, emit, signal) {
  const { model, stream, options, tools } = scenario;
  const functions = handlers(scenario);
  const system = scenario.messages.filter(({ role }) => role === 'system').map(({ content }) => ({ type: 'text', text: content }));
  const messages = scenario.messages.filter(({ role }) => role !== 'system').map(({ role, content }) => ({ role, content }));
  const body = { model, max_tokens: 1024, messages, stream, ...(system.length && { system }) };
  if (tools.length) body.tools = tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }));
  for (let left = options.limit ?? 18; left > 0; left--) {
    const reply = await patient(scenario, body, signal);
    const { content, stop_reason: reason } = stream ? await built(reply, emit) : JSON.parse(await text(reply));
    if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') throw new Halted('truncated', reason);
    if (reason === 'refusal') throw new Halted('refusal', 'declined');
    const said = content.filter((block) => block && (block.type !== 'text' || block.text.trim()));
    if (said.length) messages.push({ role: 'assistant', content: said });
    if (reason === 'pause_turn') continue;
    const calls = said.filter(({ type }) => type === 'tool_use');
    if (!calls.length) return said.map((block) => (block.type === 'text' ? block.text : '')).join('');
    const ends = await Promise.allSettled(calls.map((call) => used(functions, call, signal)));
    signal.throwIfAborted();
    const results = ends.map(({ status, value: found, reason: problem }, at) => {
      const result = { type: 'tool_result', tool_use_id: calls[at].id };
      return status === 'fulfilled' ? { ...result, content: found } : { ...result, content: `Failed: ${problem.message}`, is_error: true };
    });
    messages.push({ role: 'user', content: results });
  }
  throw new Halted('limit', 'out of requests');
}

const able = { stream: true, chunks: true, limit: true, concurrent: true, parallel: true, cancel: true };

serve({
  start: () => started({ name: 'messages over node:http', version: '1', wires: ['anthropic-messages'], ...able }),

  async run(scenario, emit, signal) {
    try {
      return value(await answer(scenario, emit, signal));
    } catch (problem) {
      return error(problem, { reason: problem.reason });
    }
  },
});
