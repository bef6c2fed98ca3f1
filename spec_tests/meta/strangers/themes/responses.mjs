// node responses.mjs [FAULT]: the right loop on Responses, or one with a fault of this name.

import { serve } from '../javascript/driver.mjs';
import { Responses } from './responses_base.mjs';

const FAULTS = {
  // Theme 4. A streamed reasoning item is kept as it began, without the encrypted content that its end brings.
  'reasoning-as-it-began': class extends Responses {
    done(items, event) {
      if (event.item.type !== 'reasoning' || !items[event.output_index]) super.done(items, event);
    }

    ended(response, items) {
      const whole = response.output ?? [];
      return { ...response, output: items.length < whole.length ? whole : items };
    }
  },

  // Theme 5. Calls go back under the declared name, which the service does not take.
  'declared-names-back': class extends Responses {
    kept(output) {
      const declared = ({ name }) => this.tools.get(name)?.name ?? name;
      return output.map((item) => (item.type === 'function_call' ? { ...item, name: declared(item) } : item));
    }
  },
};

const name = process.argv[2];
if (name && !Object.hasOwn(FAULTS, name)) throw new Error(`${name} is none of ${Object.keys(FAULTS).join(', ')}`);
const Loop = FAULTS[name] ?? Responses;

serve({
  started: {
    name: `themes-responses-${name ?? 'right'}`,
    wires: ['openai-responses'],
    capabilities: { stream: true, chunks: true, limit: true, concurrent: true, hosted: true, hosted_others: true },
  },
  run: (given, emit) => new Loop(given, emit).run(),
});
