// node responses.mjs [FAULT]: a right loop on Responses with a format, or one with a fault.

import { serve } from '../conversations/runs.mjs';
import { LoopError } from '../javascript/driver.mjs';
import { Responses } from '../themes/responses_base.mjs';
import { Unfit, checked, gaveUp, handled, parsed, wrapped } from './fitting.mjs';

class Formatted extends Responses {
  again = 2;

  get schema() {
    return this.given.output_schema;
  }

  format() {
    return { type: 'json_schema', name: 'output', schema: wrapped(this.schema), strict: false };
  }

  place() {
    return { text: { format: this.format() } };
  }

  body() {
    const body = super.body();
    return this.schema ? { ...body, ...this.place(body) } : body;
  }

  value(output) {
    return checked(this.schema, parsed(this.answer(output)));
  }

  complain(why) {
    this.input.push({ role: 'user', content: why });
  }

  async run() {
    for (let left = this.given.options.limit ?? 10; left > 0; left--) {
      const output = this.whole(await this.ask());
      const calls = this.calls(output);
      this.input.push(...this.kept(output));
      for (const call of calls) this.input.push(await this.result(call));
      if (calls.length) continue;
      if (!this.schema) return { kind: 'value', text: this.answer(output) };
      try {
        return { kind: 'value', text: null, output: this.value(output) };
      } catch (error) {
        if (!(error instanceof Unfit)) throw error;
        if (this.again-- === 0) throw gaveUp(error.message);
        this.complain(error.message);
      }
    }
    throw new LoopError('limit', 'the limit of model calls is reached');
  }

  calls(output) {
    return output.filter(({ type }) => type === 'function_call');
  }
}

const FAULTS = {
  // The member of Chat is none of Responses.
  'format-of-chat': class extends Formatted {
    place() {
      return { response_format: { type: 'json_schema', json_schema: { name: 'output', schema: wrapped(this.schema) } } };
    }
  },

  // The schema is a level too deep.
  nested: class extends Formatted {
    format() {
      return { type: 'json_schema', json_schema: { name: 'output', schema: wrapped(this.schema) } };
    }
  },

  // An incomplete response is read to where it goes, and what is missing is closed.
  'incomplete-is-whole': class extends Formatted {
    whole(reply) {
      return super.whole({ ...reply, status: 'completed' });
    }

    value(output) {
      const text = this.answer(output);
      for (const end of ['', '"}', '"]}', '"}]}', '"]}]}', ']}', '}'])
        try {
          return JSON.parse(text + end);
        } catch {
          // the next end
        }
      throw new Unfit('it is not JSON');
    }
  },

  // Each part of a message is read as text, the words of a refusal too, and what is no JSON is handed out as it is.
  'refusal-is-text': class extends Formatted {
    value(output) {
      const parts = output.filter(({ type }) => type === 'message').flatMap(({ content }) => content);
      const refusal = parts.find(({ type }) => type === 'refusal');
      return refusal ? refusal.refusal : super.value(output);
    }
  },

  // Once tools have run the format is left out.
  'format-before-tools': class extends Formatted {
    place() {
      return this.input.some(({ type }) => type === 'function_call_output') ? {} : super.place();
    }
  },

  // The tools are left out beside a format.
  'format-or-tools': class extends Formatted {
    body() {
      const { tools, ...body } = super.body();
      return this.schema ? body : { ...body, ...(tools && { tools }) };
    }
  },

  // The first message of a turn with calls is the output, if it fits.
  'draft-is-output': class extends Formatted {
    calls(output) {
      try {
        if (this.schema) this.value(output);
        else throw new Unfit('there is none');
        return [];
      } catch {
        return super.calls(output);
      }
    }
  },

  // Where the model answers in words the output is an empty object.
  'nothing-is-an-object': class extends Formatted {
    value(output) {
      try {
        return super.value(output);
      } catch {
        return {};
      }
    }
  },
};

const name = process.argv[2];
if (name && !Object.hasOwn(FAULTS, name)) throw new Error(`${name} is none of ${Object.keys(FAULTS).join(', ')}`);
const Loop = FAULTS[name] ?? Formatted;
serve({
  started: {
    name: `outputs-responses-${name ?? 'right'}`,
    wires: ['openai-responses'],
    capabilities: { stream: true, chunks: true, limit: true, concurrent: true, output: true },
  },
  run: (given, emit) => new Loop(handled(given), emit).run(),
});
