// node responses.mjs [FAULT]: a right loop on Responses whose caller chooses tools, or one with a fault.

import { serve } from '../javascript/driver.mjs';
import { Responses } from '../themes/responses_base.mjs';

class Choosing extends Responses {
  get called() {
    return this.input.some(({ type }) => type === 'function_call_output');
  }

  named_choice(name) {
    return { type: 'function', name };
  }

  choice() {
    const wanted = this.given.options.tool_choice;
    return wanted?.tool ? this.named_choice(wanted.tool) : wanted;
  }

  // The choice of the next request: one that forces a call is for the first round.
  current() {
    const choice = this.choice();
    return this.called && choice !== 'none' ? undefined : choice;
  }

  single() {
    return this.given.options.parallel_calls === false;
  }

  body() {
    const body = super.body();
    const choice = this.current();
    return {
      ...body,
      ...(body.tools && choice !== undefined && { tool_choice: choice }),
      ...(body.tools && this.single() && { parallel_tool_calls: false }),
    };
  }
}

const FAULTS = {
  // A right loop: the list of allowed tools has the one that is named.
  allowed: class extends Choosing {
    named_choice(name) {
      return { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name }] };
    }
  },

  // The form of Chat is none of Responses.
  nested: class extends Choosing {
    named_choice(name) {
      return { type: 'function', function: { name } };
    }
  },

  // The one that is named is only allowed.
  'only-allowed': class extends Choosing {
    named_choice(name) {
      return { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name }] };
    }
  },

  // The choice comes a round too late.
  late: class extends Choosing {
    current() {
      return this.called ? this.choice() : undefined;
    }
  },

  // The option of Messages is none of Responses.
  'single-of-messages': class extends Choosing {
    body() {
      const { parallel_tool_calls: parallel, ...body } = super.body();
      return { ...body, ...(parallel === false && { disable_parallel_tool_use: true }) };
    }
  },

  // The option goes with a choice only.
  'single-with-a-choice': class extends Choosing {
    single() {
      return super.single() && this.current() !== undefined;
    }
  },
};

const name = process.argv[2];
if (name && !Object.hasOwn(FAULTS, name)) throw new Error(`${name} is none of ${Object.keys(FAULTS).join(', ')}`);
const Loop = FAULTS[name] ?? Choosing;

serve({
  started: {
    name: `choices-responses-${name ?? 'right'}`,
    wires: ['openai-responses'],
    capabilities: { stream: true, chunks: true, limit: true, concurrent: true, tool_choice: true, single_calls: true },
  },
  run: (given, emit) => new Loop(given, emit).run(),
});
