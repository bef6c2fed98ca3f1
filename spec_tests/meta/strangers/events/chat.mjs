// node chat.mjs [FAULT]: a right loop on Chat Completions that tells of calls, pieces of their arguments and results while
// it runs the calls of a turn at the same time; or one with a fault.

import { EventEmitter } from 'node:events';
import { LoopError } from '../javascript/driver.mjs';
import { Chat } from '../themes/chat_base.mjs';
import { readArguments, runCall } from '../themes/service.mjs';

const say = (message) => process.stdout.write(JSON.stringify(message) + '\n');

class Told extends Chat {
  tell(event) {
    this.emit(event);
  }

  piece(call, delta) {
    super.piece(call, delta);
    const text = delta.function?.arguments;
    if (text) this.written(call, text);
  }

  written(call, text) {
    this.tell({ kind: 'arguments', call_id: call.id, text });
  }

  called({ id, function: fn }) {
    let args = fn?.arguments;
    try {
      args = readArguments(args);
    } catch {
      // as the model has written it
    }
    this.tell({ kind: 'call', call_id: id, name: fn?.name ?? '', arguments: args });
  }

  ended({ id }, { text, failed }) {
    this.tell({ kind: 'result', call_id: id, result: text, failed });
  }

  over(how) {
    this.tell({ kind: 'end', how });
  }

  async perform(call) {
    const tool = call.function && this.find(call.function.name);
    const end = await runCall(tool, call.function?.name, call.function?.arguments, (value) => this.show(value));
    this.ended(call, end);
    return { role: 'tool', tool_call_id: call.id, content: end.text };
  }

  round(calls) {
    for (const call of calls) this.called(call);
    return Promise.all(calls.map((call) => this.perform(call)));
  }

  async go() {
    for (let left = this.given.options.limit ?? 10; left > 0; left--) {
      const reply = await this.ask();
      this.judge(reply);
      const turn = this.turn(reply);
      if (!turn.tool_calls) return reply.message.content ?? '';
      this.history.push(turn, ...(await this.round(turn.tool_calls)));
    }
    throw new LoopError('limit', 'the limit of model calls is reached');
  }

  async run() {
    let how = 'error';
    try {
      const text = await this.go();
      how = 'value';
      return text;
    } finally {
      this.over(how);
    }
  }
}

const bus = new EventEmitter();
bus.setMaxListeners(0);

const FAULTS = {
  // Results are told under the ids of the calls in the order in which the tools end.
  swapped: class extends Told {
    round(calls) {
      this.waiting = [...calls];
      return super.round(calls);
    }
    ended(_, end) {
      super.ended(this.waiting.shift(), end);
    }
  },

  // Pieces of arguments are told under the id of the first call of the turn.
  mixed: class extends Told {
    slot(calls, piece) {
      const call = super.slot(calls, piece);
      this.first = calls[0];
      return call;
    }
    written(call, text) {
      super.written(this.first.id ? this.first : call, text);
    }
  },

  // The piece that comes with the name is not told.
  'first-piece': class extends Told {
    written(call, text) {
      if (call.function.arguments !== text) super.written(call, text);
    }
  },

  // Pieces are told with all that was written so far.
  growing: class extends Told {
    written(call) {
      super.written(call, call.function.arguments);
    }
  },

  // The call is told when its result was.
  'result-first': class extends Told {
    async perform(call) {
      const message = await super.perform(call);
      super.called(call);
      return message;
    }
    called() {}
  },

  // Arguments are told as a text that JavaScript makes of an object.
  'object-text': class extends Told {
    tell(event) {
      super.tell(event.kind === 'call' ? { ...event, arguments: String(event.arguments) } : event);
    }
  },

  // All runs tell one emitter, and each listens to it.
  bus: class extends Told {
    constructor(given, emit) {
      super(given, emit);
      this.hear = (event) => this.emit(event);
      bus.on('event', this.hear);
    }
    tell(event) {
      bus.emit('event', event);
    }
    async run() {
      try {
        return await super.run();
      } finally {
        bus.off('event', this.hear);
      }
    }
  },

  // An error is told, and then the end of a run that has its answer.
  'both-ends': class extends Told {
    over(how) {
      super.over(how);
      if (how === 'error') super.over('value');
    }
  },

  // Nothing is told of a tool that returned nothing.
  nothing: class extends Told {
    show(value) {
      this.empty = value === null || value === '';
      return super.show(value);
    }
    ended(call, end) {
      if (!this.empty) super.ended(call, end);
      this.empty = false;
    }
  },

  // The second of two equal calls in a turn is taken for the first.
  twins: class extends Told {
    round(calls) {
      this.seen = new Set();
      return super.round(calls);
    }
    called(call) {
      const key = JSON.stringify(call.function);
      if (!this.seen.has(key)) super.called(call);
      this.seen.add(key);
    }
  },

  // The end comes before the results of the last round: it does not wait for them.
  early: class extends Told {
    kept = [];
    ended(call, end) {
      this.kept.push([call, end]);
    }
    over(how) {
      super.over(how);
      for (const [call, end] of this.kept) super.ended(call, end);
    }
  },

  // Events of plain replies are told without arguments and results.
  'poor-plain': class extends Told {
    tell(event) {
      super.tell(this.given.stream || event.kind !== 'call' ? event : { ...event, arguments: {} });
    }
  },
};

// Right in other ways.
const RIGHT = {
  // No pieces of arguments; tools start when all calls are told, in the next turn of the event loop.
  unhurried: class extends Told {
    written() {}
    async perform(call) {
      await new Promise(setImmediate);
      return super.perform(call);
    }
  },

  // Values are told, not what the model reads.
  values: class extends Told {
    show(value) {
      this.latest = value;
      return super.show(value);
    }
    round(calls) {
      for (const call of calls) this.called(call);
      return calls.reduce(async (found, call) => [...(await found), await this.perform(call)], []);
    }
    ended({ id }, { text, failed }) {
      this.tell({ kind: 'result', call_id: id, result: failed ? text : this.latest });
    }
  },
};

const name = process.argv[2];
const Loop = name ? (FAULTS[name] ?? RIGHT[name]) : Told;
if (!Loop) throw new Error(`${name} is none of ${Object.keys({ ...FAULTS, ...RIGHT }).join(', ')}`);

const started = {
  ...{ type: 'started', protocol: 1, name: `events-chat-${name ?? 'right'}`, version: '1.0', language: 'javascript' },
  ...{ modes: ['async'], profiles: [], wires: ['openai-chat'] },
  capabilities: { limit: true, concurrent: true, stream: true, chunks: true, shared: true, parallel: true, events: true },
};

async function play(id, given) {
  const emit = (told) => say(typeof told === 'string' ? { type: 'chunk', id, text: told } : { type: 'event', id, event: told });
  const tools = given.tools.map((tool) => ({ ...tool, execute: tool.url && ((args) => use(tool.url, args)) }));
  let outcome;
  try {
    outcome = { kind: 'value', text: await new Loop({ ...given, tools }, emit).run() };
  } catch (error) {
    const broken = error?.message === 'terminated' || error instanceof SyntaxError;
    const reason = error?.reason ?? (broken ? 'stream' : 'other');
    outcome = { kind: 'error', reason, type: error?.name ?? 'Error', message: String(error?.message ?? error) };
  }
  say({ type: 'finished', id, outcome });
}

async function use(url, args) {
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ arguments: args }) });
  const { error, value } = await reply.json();
  if (error) throw Object.assign(new Error(error.message), { name: error.type });
  return value;
}

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (data) => {
  const lines = (rest + data).split('\n');
  rest = lines.pop();
  for (const line of lines.filter(Boolean)) {
    const message = JSON.parse(line);
    if (message.type === 'start') say(started);
    if (message.type === 'run') play(message.id, message.case);
    if (message.type === 'stop') process.exit(0);
  }
});
process.stdin.on('end', () => process.exit(0));
