// node messages.mjs [FAULT]: the right loop on Messages, or one with a fault of this name.

import { serve } from '../javascript/driver.mjs';
import { steps, talk } from './messages_base.mjs';

const isNull = (part) => part?.type === 'null' || part?.const === null;

/** A schema in which each choice is its first branch that is not null. */
function flat(part) {
  if (part === null || typeof part !== 'object' || Array.isArray(part)) return part;
  const { anyOf, oneOf, ...whole } = part;
  const chosen = (anyOf ?? oneOf)?.find((one) => !isNull(one));
  if (Array.isArray(whole.type)) whole.type = whole.type.find((one) => one !== 'null') ?? 'null';
  if (whole.items) whole.items = flat(whole.items);
  for (const named of ['properties', '$defs']) {
    if (whole[named]) {
      const entries = Object.entries(whole[named]).map(([key, one]) => [key, flat(one)]);
      whole[named] = Object.fromEntries(entries);
    }
  }
  return chosen ? { ...flat(chosen), ...whole } : whole;
}

const mark = { cache_control: { type: 'ephemeral' } };
const marked = (list) => list.map((one, at) => (at === list.length - 1 ? { ...one, ...mark } : one));

const FAULTS = {
  // Theme 3. Choices are flattened: null is no longer allowed, nor is any branch but the first.
  'first-branch-only': {
    schema: (tool) => ({ ...flat(tool.parameters), type: 'object' }),
  },

  // Theme 4. Of an answer in several blocks, as with citations, only the first is returned.
  'first-text-only': {
    answer: (content) => content.find(({ type }) => type === 'text')?.text ?? '',
  },

  // Theme 5. Of two tools whose legal names are the same only the later is offered and called.
  'names-fall-together': {
    tools: ({ tools }) => new Map(tools.map((tool) => [tool.name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'tool', tool])),
  },

  // Theme 6. Tools and every message with results get a cache mark that stays: with the fifth the service refuses.
  'marks-add-up': {
    offers(run) {
      return marked(steps.offers.call(this, run));
    },
    said: (history, { role, content }) => history.push({ role, content: role === 'user' ? marked(content) : content }),
  },

  // Theme 7. A request that is tried again is made smaller: it has no tools.
  'retry-without-tools': {
    service: (given) => Object.assign(steps.service(given), { again: ({ tools, ...body }) => body }),
  },

  // Theme 8. A call with the arguments of an earlier one is not run again.
  'equal-call-skipped': {
    async execute(run, call) {
      const key = JSON.stringify([call.name, call.input]);
      if (run.ran.includes(key)) return { text: 'This call was made before. Use its result.', failed: false };
      run.ran.push(key);
      return steps.execute(run, call);
    },
  },
};

const name = process.argv[2];
if (name && !Object.hasOwn(FAULTS, name)) throw new Error(`${name} is none of ${Object.keys(FAULTS).join(', ')}`);

serve({
  started: {
    name: `themes-messages-${name ?? 'right'}`,
    wires: ['anthropic-messages'],
    capabilities: { limit: true, concurrent: true, hosted: true, hosted_others: true },
  },
  run: (given) => talk({ ...steps, ...FAULTS[name] }, given),
});
