// node responses.mjs FAULT: a loop on Responses with a fault that users of published loops have reported.

import { serve } from '../javascript/driver.mjs';
import { Responses } from '../themes/responses_base.mjs';

let latest;

const withoutNulls = (text) => {
  try {
    const args = JSON.parse(text);
    if (args === null || typeof args !== 'object' || Array.isArray(args)) return text;
    return JSON.stringify(Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)));
  } catch {
    return text;
  }
};

const FAULTS = {
  // Arguments that are null are dropped before the tool runs.
  'no-nulls': class extends Responses {
    result(call) {
      if (call.type !== 'function_call' || typeof call.arguments !== 'string') return super.result(call);
      return super.result({ ...call, arguments: withoutNulls(call.arguments) });
    }
  },

  // One callback for the pieces of all runs: that of the run which began last.
  'latest-listener': class extends Responses {
    constructor(given, emit) {
      super(given, emit);
      latest = emit;
      this.emit = (text) => latest(text);
    }
  },
};

const name = process.argv[2];
if (!Object.hasOwn(FAULTS, name)) throw new Error(`${name} is none of ${Object.keys(FAULTS).join(', ')}`);
const Loop = FAULTS[name];

serve({
  started: {
    name: `hits-responses-${name}`,
    wires: ['openai-responses'],
    capabilities: { stream: true, chunks: true, limit: true, concurrent: true, hosted: true, hosted_others: true },
  },
  run: (given, emit) => new Loop(given, emit).run(),
});
