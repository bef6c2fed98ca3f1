// node messages.mjs FAULT: a loop on Messages with a fault that users of published loops have reported.

import { serve } from '../javascript/driver.mjs';
import { steps, talk } from '../themes/messages_base.mjs';

/** One thinking block in place of several: all their texts, and the latest signature. */
function merged(content) {
  const thoughts = content.filter(({ type }) => type === 'thinking');
  if (thoughts.length < 2) return content;
  const text = thoughts.map(({ thinking }) => thinking).join('');
  const one = { type: 'thinking', thinking: text, signature: thoughts.at(-1).signature };
  return [one, ...content.filter(({ type }) => type !== 'thinking')];
}

const FAULTS = {
  // The thoughts of a turn go back as one.
  'thoughts-merged': {
    said: (history, { role, content }) =>
      history.push({ role, content: role === 'assistant' ? merged(content) : content }),
  },
};

const name = process.argv[2];
if (!Object.hasOwn(FAULTS, name)) throw new Error(`${name} is none of ${Object.keys(FAULTS).join(', ')}`);

serve({
  started: {
    name: `hits-messages-${name}`,
    wires: ['anthropic-messages'],
    capabilities: { limit: true, concurrent: true, hosted: true, hosted_others: true },
  },
  run: (given) => talk({ ...steps, ...FAULTS[name] }, given),
});
