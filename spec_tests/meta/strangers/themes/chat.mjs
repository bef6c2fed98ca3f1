// node chat.mjs [FAULT]: the right loop on Chat Completions, or one with a fault of this name.

import { serve } from '../javascript/driver.mjs';
import { Chat } from './chat_base.mjs';
import { Service } from './service.mjs';

/** Never takes no for an answer. */
class Stubborn extends Service {
  tries = Infinity;

  delay(reply) {
    return super.delay(reply, 0);
  }
}

/** Saves tokens: older results and turns go back without the blanks around them. */
class Trimmed extends Chat {
  prompt() {
    const latest = this.history.findLastIndex(({ role }) => role === 'assistant');
    const own = ({ role, content }) => (role === 'tool' || role === 'assistant') && typeof content === 'string';
    const trimmed = (item) => ({ ...item, content: item.content.trim() });
    return this.history.map((item, at) => (at < latest && own(item) ? trimmed(item) : item));
  }
}

const FAULTS = {
  // Theme 1. Arguments that can be parsed are taken for whole: a placeholder {} is all that the tool gets.
  'parsable-is-whole': class extends Chat {
    joined(before, text) {
      try {
        JSON.parse(before);
        return before;
      } catch {
        return before + text;
      }
    }
  },

  // Theme 1. A plain reply without choices, such as an error with status 200, is an empty answer.
  'optional-choices': class extends Chat {
    whole(reply) {
      const choice = reply?.choices?.[0];
      return { message: choice?.message ?? {}, finish: choice?.finish_reason ?? 'stop' };
    }
  },

  // Theme 2. Pieces of thoughts are handed to the caller like pieces of the answer.
  'thoughts-are-streamed': class extends Chat {
    member(message, key, value) {
      super.member(message, key, value);
      if (key === 'reasoning_content' && value) this.emit(value);
    }
  },

  // Theme 2. Of a streamed call only id, type, name and arguments are kept.
  'no-extras': class extends Chat {
    extras() {}
  },

  // Theme 3. `required` is taken out of the declared schema itself, so the second request has none.
  'required-once': class extends Chat {
    schema(tool) {
      const { required } = tool.parameters;
      delete tool.parameters.required;
      return { ...tool.parameters, ...(required && { required: [...required] }) };
    }
  },

  // Theme 5. A call is looked up by the declared name, which is not the one that was offered.
  'declared-name-only': class extends Chat {
    find(name) {
      return this.given.tools.find((tool) => tool.name === name);
    }
  },

  // Theme 6. What was sent with its blanks in one request is sent without them in the next but one.
  'older-turns-trimmed': Trimmed,

  // Theme 7. A request that is refused with 429 or 5xx is tried again for ever.
  'retries-never-end': class extends Chat {
    connect(headers) {
      return new Stubborn(this.given, 'chat/completions', headers);
    }
  },

  // Theme 8. A list or an object with nothing in it is told as no output.
  'empty-is-no-output': class extends Chat {
    show(value) {
      const empty = value !== null && typeof value === 'object' && Object.keys(value).length === 0;
      return empty ? 'The tool ran and gave no output.' : super.show(value);
    }
  },
};

const name = process.argv[2];
if (name && !Object.hasOwn(FAULTS, name)) throw new Error(`${name} is none of ${Object.keys(FAULTS).join(', ')}`);
const Loop = FAULTS[name] ?? Chat;

serve({
  started: {
    name: `themes-chat-${name ?? 'right'}`,
    wires: ['openai-chat'],
    capabilities: { stream: true, chunks: true, limit: true, concurrent: true },
  },
  run: (given, emit) => new Loop(given, emit).run(),
});
