// Chat Completions over Node's fetch: always streams, results are wrapped, a tool of its own, calls together.
import { error, handlers, serve, started, value } from './looptck-driver.mjs';
import { setTimeout as sleep } from 'node:timers/promises';
import { events } from './sse.mjs';

class LoopError extends Error {
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}

const CLOCK = {
  type: 'function',
  function: {
    name: 'current_time_utc',
    description: 'The time of day in UTC.',
    parameters: { type: 'object', properties: {} },
  },
};

class Conversation {
  messages = [];
}

class Runner {
  constructor({ base_url, api_key, model, tools, options }, functions, { emit, signal }) {
    Object.assign(this, { url: `${base_url}/chat/completions`, api_key, model, functions, emit, signal });
    this.limit = options.limit ?? 15;
    this.offered = tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    }));
    if (tools.length && !functions[CLOCK.function.name]) this.offered.push(CLOCK);
  }

  async post(messages) {
    const body = { model: this.model, messages, stream: true };
    if (this.offered.length) body.tools = this.offered;
    const headers = { authorization: `Bearer ${this.api_key}`, 'content-type': 'application/json' };
    const attempts = 4;
    for (let attempt = 1; ; attempt++) {
      const reply = await fetch(this.url, { method: 'POST', headers, body: JSON.stringify(body), signal: this.signal });
      if (reply.ok) return reply;
      const said = await reply.text();
      const again = reply.status === 429 || reply.status >= 500;
      if (!again || attempt === attempts) throw new LoopError('provider', `${reply.status} ${said}`);
      const wanted = Number(reply.headers.get('retry-after') ?? NaN);
      await sleep(Number.isNaN(wanted) ? 100 * 2 ** attempt : wanted * 1000, undefined, { signal: this.signal });
    }
  }

  async turn(messages) {
    const reply = await this.post(messages);
    const turn = { text: '', refusal: '', calls: [], finish: null };
    for await (const data of events(reply.body)) {
      if (data === '[DONE]') break;
      const chunk = JSON.parse(data);
      if (chunk.error) throw new LoopError('stream', JSON.stringify(chunk.error));
      const choice = chunk.choices?.[0];
      if (!choice) continue;
      const delta = choice.delta ?? {};
      if (delta.content) {
        turn.text += delta.content;
        this.emit(delta.content);
      }
      if (delta.refusal) turn.refusal += delta.refusal;
      for (const piece of delta.tool_calls ?? []) this.add(turn.calls, piece);
      if (choice.finish_reason) turn.finish = choice.finish_reason;
    }
    if (!turn.finish) throw new LoopError('stream', 'the stream was cut');
    return turn;
  }

  // A piece belongs to the call of its index, unless it has another id; without an index to the call of its id, or the last.
  add(calls, { index, id, function: part }) {
    const fits = (call) => (index == null ? !id || call.id === id : call.index === index && (!id || call.id === id));
    let call = calls.findLast(fits);
    if (!call) calls.push((call = { index, id, name: '', args: '' }));
    call.name ||= part?.name ?? '';
    call.args += part?.arguments ?? '';
  }

  async run(messages) {
    for (let asked = 0; asked < this.limit; asked++) {
      const turn = await this.turn(messages);
      if (turn.finish === 'length') throw new LoopError('truncated', 'cut at the limit of tokens');
      if (turn.finish === 'content_filter') throw new LoopError('refusal', 'filtered');
      if (turn.refusal) throw new LoopError('refusal', turn.refusal);
      if (!turn.calls.length) {
        messages.push({ role: 'assistant', content: turn.text });
        return turn.text;
      }
      const said = turn.calls.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: args } }));
      const results = await Promise.all(turn.calls.map((call) => this.result(call)));
      messages.push({ role: 'assistant', content: turn.text || null, tool_calls: said }, ...results);
    }
    throw new LoopError('limit', `asked ${this.limit} times`);
  }

  async result({ id, name, args }) {
    const content = JSON.stringify(await this.outcome(name, args));
    return { role: 'tool', tool_call_id: id, content };
  }

  async outcome(name, args) {
    if (name === CLOCK.function.name && !this.functions[name]) return { result: new Date().toISOString() };
    if (!Object.hasOwn(this.functions, name)) return { error: `unknown tool: ${name}` };
    let input;
    try {
      input = JSON.parse(args || '{}');
    } catch (problem) {
      return { error: `invalid JSON in the arguments: ${problem.message}` };
    }
    if (input === null || typeof input !== 'object' || Array.isArray(input)) return { error: 'arguments must be an object' };
    try {
      return { result: await this.functions[name](input, { signal: this.signal }) };
    } catch (problem) {
      if (this.signal.aborted) throw problem;
      return { error: problem.message };
    }
  }
}

const conversations = new Map();
const able = { stream: true, plain: false, chunks: true, limit: true, concurrent: true, parallel: true };

serve({
  start: () =>
    started({ name: 'chat over fetch', version: '1', wires: ['openai-chat'], ...able, cancel: true, conversations: true }),

  async run(scenario, emit, signal) {
    const kept = conversations.get(scenario.conversation) ?? new Conversation();
    const messages = [...kept.messages, ...scenario.messages];
    const runner = new Runner(scenario, handlers(scenario), { emit, signal });
    try {
      const text = await runner.run(messages);
      kept.messages = messages;
      if (scenario.conversation) conversations.set(scenario.conversation, kept);
      return value(text);
    } catch (problem) {
      return error(problem, { reason: problem.reason });
    }
  },
});
