// `node chat.mjs FAULT`: the loop of chat_talk.mjs with one fault, or without an argument with none.

import { LoopError } from '../javascript/driver.mjs';
import { Line, Memory, Talk, host } from './chat_talk.mjs';
import { ABLE, postKit, serve } from './runs.mjs';

const everybody = new Memory();
const shelf = new Map();

const FAULTS = {
  /** All conversations of the process are one. */
  'one-memory-for-all': {
    memory: class {
      constructor() {
        return everybody;
      }
    },
  },

  /** An aborted run leaves its calls without results. */
  'aborted-calls-open': {
    talk: class extends Talk {
      close(round, otherwise) {
        if (otherwise !== 'Aborted by the user.') super.close(round, otherwise);
      }
    },
  },

  /** A turn that the model refused stays as a message with nothing in it. */
  'refusal-is-empty': {
    talk: class extends Talk {
      judge(reply) {
        if (reply.message.refusal) this.history.push({ role: 'assistant', content: null });
        super.judge(reply);
      }
    },
  },

  /** An aborted run resolves with the text so far. */
  'abort-resolves': {
    talk: class extends Talk {
      async run() {
        try {
          return await super.run();
        } catch (error) {
          if (!this.signal.aborted || this.given.options.leave_after) throw error;
          return { kind: 'value', text: this.partial };
        }
      }
    },
  },

  /** An aborted request counts as a lost connection, and is sent again without the signal. */
  'abort-is-a-lost-connection': {
    talk: class extends Talk {
      connect(headers) {
        const line = super.connect(headers);
        const post = line.post.bind(line);
        line.post = async (body) => {
          try {
            return await post(body);
          } catch (error) {
            if (error instanceof LoopError) throw error;
            line.signal = undefined;
            return post(body);
          }
        };
        return line;
      }
    },
  },

  /** The error of an aborted tool goes to the model as its result, and so does the rest of the run. */
  'abort-is-a-result': {
    talk: class extends Talk {
      async use(tool, args) {
        try {
          return await super.use(tool, args);
        } catch (error) {
          this.signal = new AbortController().signal;
          this.service = this.connect({ authorization: `Bearer ${this.given.api_key}` });
          return `Error: ${error.name}: ${error.message}`;
        }
      }
    },
  },

  /** A caller who leaves hears nothing more, and the run goes on. */
  'leaving-closes-the-ear': {
    talk: class extends Talk {
      leave() {
        this.gone();
      }

      async run() {
        const left = new Promise((_, refuse) => {
          this.gone = () => refuse(new LoopError('cancelled', 'the caller has left'));
        });
        const whole = super.run();
        whole.catch(() => {});
        return Promise.race([left, whole]);
      }
    },
  },

  /** One answer of the hook is for all calls of the tool in the run. */
  'approved-by-name': {
    talk: class extends Talk {
      async decision(asked, decisions) {
        if (!this.given.confirm) return super.decision(asked, decisions);
        this.said ??= {};
        return (this.said[asked.name] ??= await postKit(this.given.confirm, { call: asked }, this.signal));
      }
    },
  },

  /** A changed call is changed in the history, and runs as it was. */
  'changed-on-paper': {
    talk: class extends Talk {
      change(call, args, parameters) {
        super.change(call, args, parameters);
        return args;
      }
    },
  },

  /** The state is a number of something in this process. */
  'state-is-a-number': {
    talk: class extends Talk {
      suspend(round, waiting) {
        const outcome = super.suspend(round, waiting);
        shelf.set(shelf.size, outcome.state);
        return { ...outcome, state: shelf.size - 1 };
      }

      resume() {
        this.given.resume.state = shelf.get(this.given.resume.state);
        return super.resume();
      }
    },
  },

  /** The pause before a further try ends with its time alone. */
  'pause-without-signal': {
    talk: class extends Talk {
      connect(headers) {
        const line = super.connect(headers);
        line.wait = (delay) => Line.prototype.wait.call({ signal: undefined }, delay);
        return line;
      }
    },
  },

  /** The agent object counts the calls of all its runs. */
  'limit-of-the-agent': {
    talk: class extends Talk {
      get asked() {
        return this.agent?.asked ?? 0;
      }

      set asked(count) {
        if (count) this.agent.asked = count;
      }
    },
  },
};

const name = process.argv[2] || 'none';
serve({
  started: { name: `conversations-chat-${name}`, wires: ['openai-chat'], capabilities: ABLE },
  run: host(name === 'none' ? {} : FAULTS[name]),
});
