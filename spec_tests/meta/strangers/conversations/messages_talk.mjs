// A right loop on Messages over fetch, made of async generators: whoever stops reading stops the loop.
// A conversation is as long as its last complete round: a turn that was aborted, cut or left open by an abort is rewound,
// its question stays, and a question that brought an error before any round is taken back. Texts of the user that follow
// each other are one message. A second run on a busy conversation is refused. The hook is asked about all calls of a turn
// at the same time, and each runs when its own answer is there; a suspended run has run nothing of the turn.

import { setTimeout as sleep } from 'node:timers/promises';
import { LoopError } from '../javascript/driver.mjs';
import { Service, dataOf, named, readArguments, shown } from '../themes/service.mjs';
import { postKit, useTool } from './runs.mjs';

const CUT = ['max_tokens', 'model_context_window_exceeded'];
const PAUSED = ['pause_turn', 'compaction'];
const JOINED = { text_delta: 'text', thinking_delta: 'thinking', signature_delta: 'signature' };
const USES = ['tool_use', 'server_tool_use', 'mcp_tool_use'];

const copy = (value) => structuredClone(value);
const text = (words) => ({ type: 'text', text: words.trim() ? words : '(no content)' });

/** Blocks of a message of the caller. */
function blocks({ role, content, calls = [], call_id: id }) {
  if (role === 'tool') return [{ type: 'tool_result', tool_use_id: id, ...(content && { content }) }];
  const uses = calls.map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: call.arguments }));
  return content.trim() || !uses.length ? [text(content), ...uses] : uses;
}

function* read(state, event) {
  if (event.type === 'message_start') Object.assign(state.message, event.message);
  else if (event.type === 'content_block_start') {
    state.blocks[event.index] = { ...event.content_block };
    if (event.content_block.text) yield event.content_block.text;
  } else if (event.type === 'content_block_delta') {
    const { index: at, delta } = event;
    const block = state.blocks[at];
    if (!block) return;
    const key = JOINED[delta.type];
    if (key) block[key] = (block[key] ?? '') + delta[key];
    if (key === 'text' && delta.text) yield delta.text;
    if (delta.type === 'input_json_delta') state.raw[at] = (state.raw[at] ?? '') + delta.partial_json;
    if (delta.type === 'citations_delta') block.citations = [...(block.citations ?? []), delta.citation];
  } else if (event.type === 'message_delta') {
    for (const [key, value] of Object.entries(event.delta ?? {})) if (value != null) state.message[key] = value;
  } else if (event.type === 'error') throw new LoopError('provider', JSON.stringify(event.error ?? event));
  else if (event.type === 'message_stop') state.whole = true;
}

function input(block, raw) {
  if (!USES.includes(block.type) || !raw?.trim()) return block;
  try {
    return { ...block, input: readArguments(raw) };
  } catch {
    return { ...block, input: { INVALID_JSON: raw } };
  }
}

export const loop = {
  agent: (given) => ({ model: given.model, tools: named(given.tools) }),
  thread: () => ({ system: '', messages: [], container: undefined, state: 'free' }),

  // -- the thread

  add(thread, role, content) {
    const last = thread.messages.at(-1);
    if (role === 'user' && last?.role === 'user') last.content = [...last.content, ...content];
    else thread.messages.push({ role, content: [...content] });
  },

  take(run) {
    for (const message of run.given.messages) {
      if (message.role === 'system')
        run.thread.system = [run.thread.system, message.content].filter(Boolean).join('\n\n');
      else this.add(run.thread, message.role === 'assistant' ? 'assistant' : 'user', blocks(message));
    }
    run.mark = copy(run.thread.messages);
  },

  // -- the model

  body(run) {
    const { thread, agent, given } = run;
    const tools = [...agent.tools].map(([name, { description, parameters, strict }]) => {
      const offer = { name, description, input_schema: { type: 'object', ...parameters } };
      return strict ? { ...offer, strict } : offer;
    });
    return {
      model: agent.model,
      max_tokens: 4096,
      messages: thread.messages,
      ...(thread.system && { system: thread.system }),
      ...(tools.length && { tools }),
      ...(thread.container && { container: thread.container }),
      ...(given.stream && { stream: true }),
    };
  },

  pause: (delay, signal) => sleep(delay, undefined, { signal }),

  async post(run, signal) {
    const headers = { 'x-api-key': run.given.api_key, 'anthropic-version': '2023-06-01' };
    const service = new Service(run.given, 'messages', headers);
    const sent = { method: 'POST', headers: service.headers, body: JSON.stringify(this.body(run)), signal };
    for (let attempt = 0; ; attempt++) {
      const reply = await fetch(service.url, sent);
      if (reply.ok) return reply;
      const said = await reply.text();
      const delay = service.delay(reply, attempt);
      if (attempt + 1 >= service.tries || !service.passes(reply) || delay > 30_000)
        throw new LoopError('provider', `HTTP ${reply.status}: ${said}`);
      await this.pause(delay, signal);
    }
  },

  /** Ask once: yields text, returns the message. Whoever stops reading hangs up. */
  async *ask(run) {
    run.asked += 1;
    const hangup = new AbortController();
    try {
      const reply = await this.post(run, AbortSignal.any([run.signal, hangup.signal]));
      if (!run.given.stream) return await reply.json();
      const state = { message: {}, blocks: [], raw: [], whole: false };
      for await (const data of dataOf(reply.body)) {
        const event = JSON.parse(data);
        if (event) yield* read(state, event);
        if (state.whole) break;
      }
      if (!state.whole) throw new LoopError('stream', 'the stream ended before the message did');
      return { ...state.message, content: state.blocks.map((block, at) => input(block, state.raw[at])).filter(Boolean) };
    } catch (error) {
      if (error instanceof SyntaxError) throw new LoopError('stream', error.message);
      throw error;
    } finally {
      hangup.abort();
    }
  },

  // -- the loop

  async *go(run) {
    while (run.asked < (run.given.options.limit ?? 10)) {
      const message = yield* this.ask(run);
      const { content, stop_reason: stop } = message ?? {};
      if (!Array.isArray(content)) throw new LoopError('provider', JSON.stringify(message?.error ?? 'no content'));
      if (CUT.includes(stop)) throw new LoopError('truncated', `the turn was cut: ${stop}`);
      if (stop === 'refusal') throw new LoopError('refusal', message.stop_details?.explanation ?? 'the model refused');
      run.thread.container = message.container?.id ?? run.thread.container;
      const kept = content.filter((block) => block.type !== 'text' || block.text.trim());
      if (kept.length) this.add(run.thread, 'assistant', kept);
      if (PAUSED.includes(stop)) continue;
      const calls = content.filter(({ type }) => type === 'tool_use');
      if (stop !== 'tool_use' || !calls.length) {
        run.mark = copy(run.thread.messages);
        return { kind: 'value', text: content.filter(({ type }) => type === 'text').map((one) => one.text).join('') };
      }
      const waiting = await this.round(run, calls, {});
      if (waiting) return waiting;
    }
    throw new LoopError('limit', 'the limit of model calls is reached');
  },

  held(run, call) {
    const tool = run.agent.tools.get(call.name);
    return Boolean(tool?.url && tool.approval && call.input?.INVALID_JSON === undefined);
  },

  asks: (run, call) => ({ id: call.id, name: run.agent.tools.get(call.name).name, arguments: call.input ?? {} }),

  /** Answer the calls of a turn, or suspend the run. */
  async round(run, calls, said) {
    const held = calls.filter((call) => this.held(run, call));
    if (held.length && !run.given.confirm && held.some(({ id }) => !said[id])) return this.suspend(run, held);
    const results = await Promise.all(calls.map((call) => this.result(run, call, said)));
    run.signal.throwIfAborted();
    this.add(run.thread, 'user', results);
    run.mark = copy(run.thread.messages);
    run.rounds += 1;
    return null;
  },

  async result(run, call, said) {
    const result = { type: 'tool_result', tool_use_id: call.id, ...(call.toolset_name && { toolset_name: call.toolset_name }) };
    const failed = (content) => ({ ...result, content, is_error: true });
    const tool = run.agent.tools.get(call.name);
    if (!tool?.url) return failed(`There is no tool named ${call.name}`);
    let args;
    try {
      args = readArguments(call.input?.INVALID_JSON ?? call.input);
    } catch (error) {
      return failed(`The input cannot be read: ${error.message}`);
    }
    if (this.held(run, call)) {
      const decision = await this.decision(run, call, said);
      if (decision.decision === 'reject') return failed(`Not allowed by the user: ${decision.feedback ?? 'no reason'}`);
      args = { ...args, ...decision.parameters };
    }
    try {
      const content = shown(await useTool(tool, args, run.signal));
      return { ...result, ...(content && { content }) };
    } catch (error) {
      run.signal.throwIfAborted();
      return failed(`Error: ${error.name}: ${error.message || 'no message'}`);
    }
  },

  async decision(run, call, said) {
    if (!run.given.confirm) return said[call.id];
    return postKit(run.given.confirm, { call: this.asks(run, call) }, run.signal);
  },

  // -- suspension

  suspend(run, held) {
    const { system, messages, container } = run.thread;
    run.thread.state = 'waiting';
    const state = copy({ system, messages, container, asked: run.asked, rounds: run.rounds, mark: run.mark });
    return { kind: 'suspended', state, calls: held.map((call) => this.asks(run, call)) };
  },

  async *resume(run) {
    const { state, decisions } = run.given.resume;
    const { system, messages, container, asked, rounds, mark } = copy(state);
    Object.assign(run.thread, { system, messages, container });
    Object.assign(run, { asked, rounds, mark });
    const calls = messages.at(-1).content.filter(({ type }) => type === 'tool_use');
    const waiting = await this.round(run, calls, Object.fromEntries(decisions.map((one) => [one.id, one])));
    return waiting ?? (yield* this.go(run));
  },

  /** Play a run: yields text, returns the outcome, and leaves a thread that can go on. */
  async *play(run) {
    const before = copy(run.thread.messages);
    const resumes = Boolean(run.given.resume);
    if (run.thread.state !== 'free' && !(resumes && run.thread.state === 'waiting'))
      throw new LoopError('other', `the conversation is ${run.thread.state}`);
    run.thread.state = 'busy';
    let outcome;
    try {
      if (!resumes) this.take(run);
      outcome = yield* resumes ? this.resume(run) : this.go(run);
      return outcome;
    } catch (error) {
      if (!run.signal.aborted && !run.rounds) run.mark = before;
      throw error;
    } finally {
      if (outcome?.kind !== 'suspended') {
        run.thread.messages = run.mark;
        run.thread.state = 'free';
      }
    }
  },
};

/** A host keeps agents and threads by their ids, and reads each run to its end or until its caller has enough. */
export function host(fault = {}) {
  const how = { ...loop, ...fault };
  const kept = { shared: new Map(), conversation: new Map() };
  const keep = (kind, given, make) => {
    const id = given[kind];
    if (id === undefined) return make();
    if (!kept[kind].has(id)) kept[kind].set(id, make());
    return kept[kind].get(id);
  };
  return async (given, emit, { signal }) => {
    const thread = keep('conversation', given, () => how.thread(given));
    const agent = keep('shared', given, () => how.agent(given));
    const pieces = how.play({ given, thread, agent, signal, asked: 0, rounds: 0, mark: copy(thread.messages) });
    return how.listen ? how.listen(pieces, given, emit) : listen(pieces, given, emit);
  };
}

async function listen(pieces, given, emit) {
  let left = given.options.leave_after ?? Infinity;
  for (;;) {
    const { done, value } = await pieces.next();
    if (done) return value;
    emit(value);
    if (--left === 0) {
      await pieces.return();
      throw new LoopError('cancelled', 'the caller has left');
    }
  }
}
