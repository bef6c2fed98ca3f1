// Messages over fetch: an agent object for many conversations, tokens counted before each question, thinking kept.
import { error, handlers, serve, started, value } from './looptck-driver.mjs';
import { setTimeout as sleep } from 'node:timers/promises';
import { events } from './sse.mjs';

const stop = (reason, message) => Object.assign(new Error(message), { reason });

class Service {
  constructor({ base_url, api_key }, signal) {
    this.base = base_url;
    this.signal = signal;
    this.headers = { 'x-api-key': api_key, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' };
  }

  post(path, body) {
    const { headers, signal } = this;
    return fetch(this.base + path, { method: 'POST', headers, signal, body: JSON.stringify(body) });
  }

  async count({ model, messages, system, tools }) {
    const reply = await this.post('/messages/count_tokens', { model, messages, ...(system && { system }), ...(tools && { tools }) });
    return reply.ok ? (await reply.json()).input_tokens : undefined;
  }

  async message(body, emit) {
    for (let attempt = 0; ; attempt++) {
      const reply = await this.post('/messages', body);
      if (reply.ok) return body.stream ? this.built(reply, emit) : reply.json();
      const said = await reply.text();
      if (attempt === 2 || ![408, 429, 500, 502, 503, 529].includes(reply.status)) throw stop('provider', `${reply.status} ${said}`);
      const seconds = Number(reply.headers.get('retry-after') || 0.2 * 2 ** attempt);
      await sleep(1000 * (Number.isNaN(seconds) ? 1 : seconds), undefined, { signal: this.signal });
    }
  }

  async built(reply, emit) {
    let message;
    const texts = {};
    for await (const data of events(reply.body)) {
      const event = JSON.parse(data);
      if (event.type === 'message_start') message = { ...event.message, content: [...(event.message.content ?? [])] };
      if (event.type === 'content_block_start') {
        message.content[event.index] = { ...event.content_block };
        if (event.content_block.type === 'text' && event.content_block.text) emit(event.content_block.text);
      }
      if (event.type === 'content_block_delta') apply(message.content[event.index], event, texts, emit);
      if (event.type === 'content_block_stop' && event.index in texts) {
        message.content[event.index].input = object(texts[event.index]);
      }
      if (event.type === 'message_delta') Object.assign(message, event.delta);
      if (event.type === 'error') throw stop('stream', JSON.stringify(event.error));
      if (event.type === 'message_stop') return { ...message, content: message.content.filter(Boolean) };
    }
    throw stop('stream', 'no end of the message');
  }
}

function apply(block, { index, delta }, texts, emit) {
  if (delta.type === 'text_delta') {
    block.text = (block.text ?? '') + delta.text;
    emit(delta.text);
  } else if (delta.type === 'thinking_delta') block.thinking = (block.thinking ?? '') + delta.thinking;
  else if (delta.type === 'signature_delta') block.signature = (block.signature ?? '') + delta.signature;
  else if (delta.type === 'input_json_delta') texts[index] = (texts[index] ?? '') + delta.partial_json;
  else if (delta.type === 'citations_delta') block.citations = [...(block.citations ?? []), delta.citation];
}

// The input of a call; of one whose text is no JSON object an empty one that remembers the text.
const broken = new WeakMap();
function object(text) {
  if (!text.trim()) return {};
  try {
    const found = JSON.parse(text);
    if (found !== null && typeof found === 'object' && !Array.isArray(found)) return found;
  } catch {
    // remembered below
  }
  const empty = {};
  broken.set(empty, text);
  return empty;
}

class Agent {
  constructor(scenario) {
    this.tools = scenario.tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }));
    this.sessions = new Map();
  }

  async run(scenario, emit, signal) {
    const service = new Service(scenario, signal);
    const functions = handlers(scenario);
    const session = this.sessions.get(scenario.conversation) ?? { system: '', messages: [] };
    const system = scenario.messages.filter(({ role }) => role === 'system').map(({ content }) => content).join('\n') || session.system;
    const messages = [...session.messages];
    for (const { role, content } of scenario.messages) if (role !== 'system') messages.push({ role, content });
    const text = await this.loop(service, functions, { ...scenario, system }, messages, emit, signal);
    if (scenario.conversation) this.sessions.set(scenario.conversation, { system, messages });
    return text;
  }

  async loop(service, functions, { model, stream, system, options }, messages, emit, signal) {
    const base = { model, max_tokens: 3000, stream, ...(system && { system }) };
    if (this.tools.length) base.tools = this.tools;
    for (let turn = 0; turn < (options.limit ?? 20); turn++) {
      if (turn === 0) await service.count({ ...base, messages });
      const { content, stop_reason: reason } = await service.message({ ...base, messages }, emit);
      if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') throw stop('truncated', reason);
      if (reason === 'refusal') throw stop('refusal', 'refused');
      const calls = content.filter(({ type }) => type === 'tool_use');
      const results = reason === 'pause_turn' ? [] : await this.results(calls, functions, signal);
      const kept = content.filter(({ type, text }) => type !== 'text' || text.trim());
      if (kept.length) messages.push({ role: 'assistant', content: kept });
      if (results.length) messages.push({ role: 'user', content: results });
      else if (reason !== 'pause_turn') return content.map(({ type, text }) => (type === 'text' ? text : '')).join('');
    }
    throw stop('limit', 'no answer in time');
  }

  async results(calls, functions, signal) {
    const results = [];
    for (const call of calls) {
      const result = { type: 'tool_result', tool_use_id: call.id };
      try {
        results.push({ ...result, content: await this.result(call, functions, signal) });
      } catch (problem) {
        if (signal.aborted) throw problem;
        results.push({ ...result, content: problem.message || problem.name, is_error: true });
      }
    }
    return results;
  }

  async result({ name, input }, functions, signal) {
    if (broken.has(input)) throw new Error(`the input is no JSON object: ${broken.get(input)}`);
    if (!functions[name]) throw new Error(`no such tool: ${name}`);
    const found = await functions[name](input, { signal });
    return typeof found === 'string' ? found || '(empty)' : JSON.stringify(found);
  }
}

const agents = new Map();
const conversing = new Map();

function agentOf(scenario) {
  if (scenario.shared) {
    if (!agents.has(scenario.shared)) agents.set(scenario.shared, new Agent(scenario));
    return agents.get(scenario.shared);
  }
  const made = new Agent(scenario);
  if (!scenario.conversation) return made;
  made.sessions = conversing;
  return made;
}

const able = { stream: true, chunks: true, limit: true, concurrent: true, cancel: true, conversations: true, shared: true };

serve({
  start: () => started({ name: 'messages over fetch', version: '1', wires: ['anthropic-messages'], ...able }),

  async run(scenario, emit, signal) {
    try {
      return value(await agentOf(scenario).run(scenario, emit, signal));
    } catch (problem) {
      return error(problem, { reason: problem.reason });
    }
  },
});
