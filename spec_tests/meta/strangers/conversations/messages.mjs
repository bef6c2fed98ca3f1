// `node messages.mjs FAULT`: the loop of messages_talk.mjs with one fault, or without an argument with none.

import { LoopError } from '../javascript/driver.mjs';
import { host, loop } from './messages_talk.mjs';
import { ABLE, serve } from './runs.mjs';

const MODEL_CALLS = new Map();

async function until(signal, work) {
  work.catch(() => {});
  signal.throwIfAborted();
  return Promise.race([work, new Promise((_, refuse) => signal.addEventListener('abort', () => refuse(signal.reason)))]);
}

const FAULTS = {
  /** An abort empties the conversation. */
  'abort-forgets-all': {
    async *play(run) {
      try {
        return yield* loop.play.call(this, run);
      } finally {
        if (run.signal.aborted) run.thread.messages = [];
      }
    },
  },

  /** The mark to which an aborted run goes back is set before the results of a round are there. */
  'mark-before-results': {
    async round(run, calls, said) {
      run.mark = structuredClone(run.thread.messages);
      return loop.round.call(this, run, calls, said);
    },
  },

  /** Of texts of the user that follow each other the last one stays. */
  'last-question-only': {
    add(thread, role, content) {
      const last = thread.messages.at(-1);
      if (role === 'user' && last?.role === 'user' && last.content.every(({ type }) => type === 'text')) last.content = content;
      else loop.add.call(this, thread, role, content);
    },
  },

  /** An aborted run ends while its request goes on: the signal is raced and not handed to fetch. */
  'request-goes-on': {
    async *ask(run) {
      const deaf = { ...run, signal: new AbortController().signal };
      const pieces = loop.ask.call(this, deaf);
      run.asked += 1;
      for (;;) {
        const { done, value } = await until(run.signal, pieces.next());
        if (done) return value;
        yield value;
      }
    },
  },

  /** A round is raced against the abort and goes on behind it: tools start, and results come after the rewinding. */
  'round-goes-on': {
    async round(run, calls, said) {
      const deaf = { ...run, signal: new AbortController().signal };
      const work = loop.round.call(this, deaf, calls, said);
      const waiting = await until(run.signal, work);
      Object.assign(run, { mark: deaf.mark, rounds: deaf.rounds });
      return waiting;
    },
  },

  /** A caller who leaves has the rest of the run read into nothing. */
  'drained-when-left': {
    async listen(pieces, given, emit) {
      let left = given.options.leave_after ?? Infinity;
      for (;;) {
        const { done, value } = await pieces.next();
        if (done) return value;
        emit(value);
        if (--left > 0) continue;
        (async () => {
          while (!(await pieces.next()).done);
        })().catch(() => {});
        throw new LoopError('cancelled', 'the caller has left');
      }
    },
  },

  /** The decisions of a resumed run are for its calls in their order. */
  'decisions-in-order': {
    async round(run, calls, said) {
      const decisions = Object.values(said);
      const held = calls.filter((call) => this.held(run, call));
      const placed = decisions.length ? Object.fromEntries(held.map(({ id }, at) => [id, decisions[at]])) : {};
      return loop.round.call(this, run, calls, placed);
    },
  },

  /** A resumed turn answers the calls that were decided about, and not those beside them. */
  'siblings-unanswered': {
    async round(run, calls, said) {
      const decided = Object.keys(said).length ? calls.filter(({ id }) => said[id]) : calls;
      return loop.round.call(this, run, decided, said);
    },
  },

  /** A rejected call is left out of the results. */
  'rejected-is-left-out': {
    add(thread, role, content) {
      loop.add.call(this, thread, role, content.filter((one) => !`${one.content}`.startsWith('Not allowed by the user')));
    },
  },

  /** Changed parameters are all that the call runs with. */
  'changes-are-all': {
    async result(run, call, said) {
      if (!this.held(run, call)) return loop.result.call(this, run, call, said);
      const decision = await this.decision(run, call, said);
      const input = decision.decision === 'change' ? decision.parameters : call.input;
      const how = { ...this, decision: async () => decision };
      return loop.result.call(how, run, { ...call, input }, said);
    },
  },

  /** The state has the texts and calls of the turn, and not its thinking. */
  'state-without-thinking': {
    suspend(run, held) {
      const last = run.thread.messages.at(-1);
      last.content = last.content.filter(({ type }) => !type.includes('thinking'));
      return loop.suspend.call(this, run, held);
    },
  },

  /** An agent object that was used before sends what its earlier runs have said. */
  'thread-of-the-agent': {
    async *play(run) {
      if (run.given.shared !== undefined && run.given.conversation === undefined) {
        run.agent.thread ??= run.thread;
        run.thread.messages = [...run.agent.thread.messages];
        run.agent.thread = run.thread;
      }
      return yield* loop.play.call(this, run);
    },
  },

  /** A conversation counts its model calls over all its runs, and ends at the limit of one. */
  'limit-of-the-conversation': {
    async *play(run) {
      const key = run.given.conversation;
      if (key !== undefined) run.asked = MODEL_CALLS.get(key) ?? 0;
      try {
        return yield* loop.play.call(this, run);
      } finally {
        if (key !== undefined) MODEL_CALLS.set(key, run.asked);
      }
    },
  },
};

const name = process.argv[2] || 'none';
serve({
  started: {
    name: `conversations-messages-${name}`,
    wires: ['anthropic-messages'],
    capabilities: { ...ABLE, parallel: true },
  },
  run: host(name === 'none' ? {} : FAULTS[name]),
});
