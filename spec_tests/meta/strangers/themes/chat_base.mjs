// A right loop on Chat Completions, plain and streamed: a class whose methods are the steps.
// Streams are read with for-await.

import { randomUUID } from 'node:crypto';
import { LoopError } from '../javascript/driver.mjs';
import { Service, dataOf, named, runCall, shown } from './service.mjs';

const CUT = ['length', 'content_filter'];
const asText = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

export class Chat {
  constructor(given, emit) {
    this.given = given;
    this.emit = emit;
    this.tools = named(given.tools);
    this.history = [...given.messages];
    this.service = this.connect({ authorization: `Bearer ${given.api_key}` });
  }

  connect(headers) {
    return new Service(this.given, 'chat/completions', headers);
  }

  find(name) {
    return this.tools.get(name);
  }

  schema(tool) {
    return tool.parameters;
  }

  offers() {
    return [...this.tools].map(([name, tool]) => ({
      type: 'function',
      function: {
        name,
        description: tool.description,
        parameters: this.schema(tool),
        ...(tool.strict && { strict: true }),
      },
    }));
  }

  prompt() {
    return this.history;
  }

  body() {
    const tools = this.offers();
    return { model: this.given.model, messages: this.prompt(), ...(tools.length && { tools }) };
  }

  async ask() {
    if (this.given.stream) return this.read(await this.service.post({ ...this.body(), stream: true }));
    return this.whole(await this.service.json(this.body()));
  }

  whole(reply) {
    const choice = reply?.choices?.[0];
    if (!choice?.message) throw new LoopError('provider', JSON.stringify(reply?.error ?? 'a reply without choices'));
    return { message: choice.message, finish: choice.finish_reason ?? 'stop' };
  }

  async read(reply) {
    const message = {};
    const calls = [];
    let finish;
    for await (const data of dataOf(reply.body)) {
      if (data === '[DONE]') break;
      const chunk = JSON.parse(data);
      if (chunk?.error) throw new LoopError('provider', JSON.stringify(chunk.error));
      this.usage(chunk);
      const choice = chunk?.choices?.[0];
      if (!choice) continue;
      const { role, tool_calls, ...members } = choice.delta ?? {};
      for (const [key, value] of Object.entries(members)) if (value != null) this.member(message, key, value);
      for (const piece of tool_calls ?? []) this.piece(this.slot(calls, piece), piece);
      finish ||= choice.finish_reason;
    }
    if (!finish) throw new LoopError('stream', 'the stream ended without a finish reason');
    if (calls.length) message.tool_calls = calls.map(({ index, ...call }) => call);
    return { message, finish };
  }

  usage() {}

  member(message, key, value) {
    if (typeof value === 'string') message[key] = (message[key] ?? '') + value;
    else message[key] = Array.isArray(value) ? [...(message[key] ?? []), ...value] : value;
    if (key === 'content' && value) this.emit(value);
  }

  slot(calls, { index = null, id }) {
    let call = calls.findLast((one) => one.index === index);
    if (call && id && call.id && call.id !== id) call = index === null ? calls.find((one) => one.id === id) : undefined;
    if (!call) calls.push((call = { index, id: '', type: 'function' }));
    return call;
  }

  piece(call, { index, id, type, function: fn, custom, ...extras }) {
    call.id ||= id || '';
    call.type = type || call.type;
    for (const [kind, said] of Object.entries({ function: fn, custom })) {
      if (!said) continue;
      const made = (call[kind] ??= { name: '' });
      if (said.name && said.name !== made.name) made.name += said.name;
      for (const key of ['arguments', 'input'])
        if (said[key] != null) made[key] = this.joined(made[key] ?? '', asText(said[key]));
    }
    this.extras(call, extras);
  }

  joined(before, text) {
    return before === '{}' && text.trimStart().startsWith('{') ? text : before + text; // {} was a placeholder
  }

  extras(call, extras) {
    for (const [key, value] of Object.entries(extras)) if (value != null) call[key] = value;
  }

  judge({ message, finish }) {
    if (message.refusal) throw new LoopError('refusal', message.refusal);
    if (CUT.includes(finish)) throw new LoopError('truncated', `the turn was cut: ${finish}`);
  }

  /** The turn as it goes back: calls have an id and arguments in text, and null members are left out. */
  turn({ message }) {
    const { annotations, audio, refusal, function_call, tool_calls, ...rest } = message;
    const members = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
    const calls = (tool_calls ?? []).map((call) => {
      const id = call.id || `call_${randomUUID()}`;
      if (!call.function) return { ...call, id };
      return { ...call, id, function: { ...call.function, arguments: asText(call.function.arguments ?? '{}') } };
    });
    return { content: null, ...members, role: 'assistant', ...(calls.length && { tool_calls: calls }) };
  }

  show(value) {
    return shown(value);
  }

  async result(call) {
    const name = call.function?.name ?? call.custom?.name;
    const tool = call.function && this.find(name);
    const { text } = await runCall(tool, name, call.function?.arguments, (value) => this.show(value));
    return { role: 'tool', tool_call_id: call.id, content: text };
  }

  async run() {
    for (let left = this.given.options.limit ?? 10; left > 0; left--) {
      const reply = await this.ask();
      this.judge(reply);
      const turn = this.turn(reply);
      if (!turn.tool_calls) return reply.message.content ?? '';
      this.history.push(turn);
      for (const call of turn.tool_calls) this.history.push(await this.result(call));
    }
    throw new LoopError('limit', 'the limit of model calls is reached');
  }
}
