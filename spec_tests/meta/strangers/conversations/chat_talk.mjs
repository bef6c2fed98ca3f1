// A right loop on Chat over fetch, whose history is live: it holds each message as soon as it is there.
// Text of a turn that was aborted stays as a message, calls without a result are answered as aborted, and a question
// stays whatever follows. A second run on a conversation waits for the first. The hook is asked about one call at a
// time, and a call that the user changes is changed in the history too. A suspended run has run what needs no approval;
// a new question in its place answers the others as undecided.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LoopError } from '../javascript/driver.mjs';
import { Chat } from '../themes/chat_base.mjs';
import { Service, named, readArguments, shown } from '../themes/service.mjs';
import { postKit, useTool } from './runs.mjs';

/** Sends requests until the signal. */
export class Line extends Service {
  constructor(given, path, headers, signal) {
    super(given, path, headers);
    this.signal = signal;
  }

  async post(body) {
    const sent = JSON.stringify(body);
    for (let attempt = 0; ; attempt++) {
      const reply = await fetch(this.url, { method: 'POST', headers: this.headers, body: sent, signal: this.signal });
      if (reply.ok) return reply;
      const said = await reply.text();
      const delay = this.delay(reply, attempt);
      if (attempt + 1 >= this.tries || !this.passes(reply) || delay > 30_000)
        throw new LoopError('provider', `HTTP ${reply.status}: ${said}`);
      await this.wait(delay);
    }
  }

  wait(delay) {
    return sleep(delay, undefined, { signal: this.signal });
  }
}

/** The messages of a conversation, the calls of it that wait for the user, and the run that is at it. */
export class Memory {
  messages = [];
  pending = null;
  tail = Promise.resolve();

  /** Do some work when all earlier work is done. */
  async after(signal, work) {
    const before = this.tail;
    let release;
    this.tail = Promise.all([before, new Promise((resolve) => (release = resolve))]);
    try {
      await Promise.race([before, new Promise((_, refuse) => signal.addEventListener('abort', () => refuse(signal.reason)))]);
      signal.throwIfAborted();
      return await work();
    } finally {
      release();
    }
  }
}

/** What the runs of an agent have in common. */
export class Agent {
  constructor(given) {
    this.model = given.model;
    this.tools = named(given.tools);
  }
}

function asChat({ role, content, calls, call_id: id }) {
  if (role === 'tool') return { role, tool_call_id: id, content };
  if (!calls?.length) return { role, content };
  const written = calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }));
  return { role, content: content || null, tool_calls: written };
}

export class Talk extends Chat {
  constructor(agent, memory, given, emit, control) {
    super(given, emit);
    Object.assign(this, { agent, memory, control, tools: agent.tools, history: memory.messages, asked: 0, partial: '' });
    this.signal = control.signal;
    this.service = this.connect({ authorization: `Bearer ${given.api_key}` });
    let left = given.options.leave_after ?? Infinity;
    this.emit = (text) => {
      if (left <= 0) return;
      emit(text);
      this.partial += text;
      if (--left === 0) this.leave();
    };
  }

  connect(headers) {
    return new Line(this.given, 'chat/completions', headers, this.signal);
  }

  leave() {
    this.control.leave();
  }

  /** Ask once; what was said before an abort stays. */
  async heard() {
    this.asked += 1;
    this.partial = '';
    try {
      const reply = await this.ask();
      this.signal.throwIfAborted();
      return reply;
    } catch (error) {
      this.broken(error);
      throw error;
    }
  }

  broken() {
    if (this.signal.aborted && this.partial.trim()) this.history.push({ role: 'assistant', content: this.partial });
  }

  begin() {
    if (this.memory.pending) this.close(this.memory.pending, 'The user has not decided about this call.');
    this.memory.pending = null;
    this.history.push(...this.given.messages.map(asChat));
  }

  async run() {
    if (this.given.resume) {
      const waiting = await this.resume();
      if (waiting) return waiting;
    } else this.begin();
    while (this.asked < (this.given.options.limit ?? 10)) {
      const reply = await this.heard();
      this.judge(reply);
      const turn = this.turn(reply);
      this.history.push(turn.tool_calls ? turn : { ...turn, content: turn.content ?? '' });
      if (!turn.tool_calls) return { kind: 'value', text: reply.message.content ?? '' };
      const waiting = await this.settle({ calls: turn.tool_calls, results: {} }, {});
      if (waiting) return waiting;
    }
    throw new LoopError('limit', 'the limit of model calls is reached');
  }

  /** Answer all calls of a round. */
  close({ calls, results }, otherwise) {
    calls.forEach((call, at) =>
      this.history.push({ role: 'tool', tool_call_id: call.id, content: results[at] ?? otherwise }),
    );
  }

  async settle(round, decisions) {
    const waiting = [];
    try {
      for (const [at, call] of round.calls.entries()) {
        if (round.results[at] !== undefined) continue;
        this.signal.throwIfAborted();
        const text = await this.outcome(call, decisions);
        if (text === undefined) waiting.push(call);
        else round.results[at] = text;
      }
    } catch (error) {
      this.close(round, 'Aborted by the user.');
      throw error;
    }
    if (waiting.length) return this.suspend(round, waiting);
    this.close(round);
    return null;
  }

  /** The text for the model, or undefined while the user has to decide. */
  async outcome(call, decisions) {
    const name = call.function?.name ?? call.custom?.name;
    const tool = call.function && this.find(name);
    if (!tool?.url) return `Error: there is no tool named ${name}`;
    let args;
    try {
      args = readArguments(call.function.arguments);
    } catch (error) {
      return `Error: the arguments cannot be read: ${error.message}`;
    }
    if (tool.approval) {
      const said = await this.decision({ id: call.id, name: tool.name, arguments: args }, decisions);
      if (!said) return undefined;
      if (said.decision === 'reject') return `The user said no. ${said.feedback ?? ''}`.trim();
      if (said.decision === 'change') args = this.change(call, args, said.parameters);
    }
    return this.use(tool, args);
  }

  async decision(asked, decisions) {
    if (!this.given.confirm) return decisions[asked.id];
    return postKit(this.given.confirm, { call: asked }, this.signal);
  }

  change(call, args, parameters) {
    const changed = { ...args, ...parameters };
    call.function.arguments = JSON.stringify(changed);
    return changed;
  }

  async use(tool, args) {
    try {
      return shown(await useTool(tool, args, this.signal));
    } catch (error) {
      this.signal.throwIfAborted();
      return `Error: ${error.name}: ${error.message || 'no message'}`;
    }
  }

  suspend(round, waiting) {
    this.memory.pending = round;
    const state = structuredClone({ messages: this.history, results: round.results, asked: this.asked, run: randomUUID() });
    this.memory.waits = state.run;
    const calls = waiting.map((call) => ({
      id: call.id,
      name: this.find(call.function.name).name,
      arguments: readArguments(call.function.arguments),
    }));
    return { kind: 'suspended', state, calls };
  }

  async resume() {
    const { state, decisions } = this.given.resume;
    if (this.history.length && !(this.memory.pending && this.memory.waits === state.run))
      throw new LoopError('other', 'the conversation has gone on without this run');
    const messages = structuredClone(state.messages);
    this.history.splice(0, Infinity, ...messages);
    this.asked = state.asked;
    this.memory.pending = null;
    const calls = messages.at(-1).tool_calls;
    return this.settle({ calls, results: { ...state.results } }, Object.fromEntries(decisions.map((one) => [one.id, one])));
  }
}

/** A host keeps agents and memories by their ids. */
export function host({ talk = Talk, agent = Agent, memory = Memory } = {}) {
  const kept = new Map();
  const keep = (kind, id, make) => {
    if (id === undefined) return make();
    const key = `${kind} ${id}`;
    if (!kept.has(key)) kept.set(key, make());
    return kept.get(key);
  };
  return (given, emit, control) => {
    const mind = keep('memory', given.conversation, () => new memory());
    const made = keep('agent', given.shared, () => new agent(given));
    return mind.after(control.signal, () => new talk(made, mind, given, emit, control).run());
  };
}
