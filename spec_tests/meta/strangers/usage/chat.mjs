// node chat.mjs [FAULT]: a right loop on Chat Completions that tells how many tokens a run has used, or one with a fault.

import { serve } from '../conversations/runs.mjs';
import { Chat } from '../themes/chat_base.mjs';

let everything = { input_tokens: 0, output_tokens: 0 };

class Counted extends Chat {
  used = { input_tokens: 0, output_tokens: 0 };

  body() {
    return { ...super.body(), ...(this.given.stream && { stream_options: { include_usage: true } }) };
  }

  usage(chunk) {
    this.latest = chunk?.usage ?? this.latest;
  }

  whole(reply) {
    this.latest = reply?.usage;
    return super.whole(reply);
  }

  async ask() {
    this.latest = undefined;
    const reply = await super.ask();
    this.count(this.latest, reply);
    return reply;
  }

  count(usage) {
    this.used.input_tokens += usage?.prompt_tokens ?? 0;
    this.used.output_tokens += usage?.completion_tokens ?? 0;
  }

  told() {
    return this.used;
  }
}

const FAULTS = {
  // The usage of the last reply stands for the run.
  last: class extends Counted {
    count(usage) {
      this.used = { input_tokens: usage?.prompt_tokens ?? 0, output_tokens: usage?.completion_tokens ?? 0 };
    }
  },

  // In streams nothing is asked for, and so nothing is told.
  unasked: class extends Counted {
    body() {
      const { stream_options, ...body } = super.body();
      return body;
    }
  },

  // In streams the usage is added at each chunk that has one, and again at the end.
  twice: class extends Counted {
    usage(chunk) {
      if (chunk?.usage) this.count(chunk.usage);
      super.usage(chunk);
    }
  },

  // Numbers are joined as texts.
  texts: class extends Counted {
    told() {
      return { input_tokens: Number(`${this.used.input_tokens}${this.used.output_tokens}`), output_tokens: 0 };
    }
  },

  // What was used before the last round with tools is lost.
  'since-tools': class extends Counted {
    count(usage, reply) {
      super.count(usage);
      if (reply.message.tool_calls?.length) this.used = { input_tokens: 0, output_tokens: 0 };
    }
  },

  // A module adds up what all runs have used, and each run tells the difference to its beginning.
  difference: class extends Counted {
    before = everything;
    count(usage) {
      everything = {
        input_tokens: everything.input_tokens + (usage?.prompt_tokens ?? 0),
        output_tokens: everything.output_tokens + (usage?.completion_tokens ?? 0),
      };
    }
    told() {
      const parted = Object.entries(everything).map(([name, count]) => [name, count - this.before[name]]);
      return Object.fromEntries(parted);
    }
  },
};

const name = process.argv[2];
if (name && !Object.hasOwn(FAULTS, name)) throw new Error(`${name} is none of ${Object.keys(FAULTS).join(', ')}`);
const Loop = FAULTS[name] ?? Counted;

serve({
  started: {
    name: `usage-chat-${name ?? 'right'}`,
    wires: ['openai-chat'],
    capabilities: { limit: true, concurrent: true, stream: true, chunks: true, shared: true, usage: true },
  },
  async run(given, emit) {
    const tools = given.tools.map((tool) => ({ ...tool, execute: tool.url && ((args) => use(tool.url, args)) }));
    const chat = new Loop({ ...given, tools }, emit);
    return { kind: 'value', text: await chat.run(), usage: chat.told() };
  },
});

async function use(url, args) {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: args }),
  });
  const { error, value } = await reply.json();
  if (error) throw Object.assign(new Error(error.message), { name: error.type });
  return value;
}
