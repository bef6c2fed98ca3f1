// node messages.mjs [FAULT]: a right loop on Messages whose caller chooses tools, or one with a fault.

import { serve } from '../javascript/driver.mjs';
import { steps, talk } from '../themes/messages_base.mjs';

const TYPES = { auto: 'auto', required: 'any', none: 'none' };
const called = (run) => run.history.length > run.given.messages.filter(({ role }) => role !== 'system').length;

const choosing = {
  ...steps,
  type: (word) => ({ type: TYPES[word] }),
  tool: (name) => ({ type: 'tool', name }),

  // The choice of the next request: the caller's until a tool has run, without any `auto` if calls are single.
  choice(run) {
    const { tool_choice: wanted, parallel_calls: parallel } = run.given.options;
    const free = called(run) && wanted !== 'none';
    const choice = free || wanted === undefined ? undefined : wanted.tool ? this.tool(wanted.tool) : this.type(wanted);
    return this.single(choice, parallel, run);
  },

  single(choice, parallel) {
    if (parallel !== false || choice?.type === 'none') return choice;
    return { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true };
  },

  body(run) {
    const body = steps.body.call(this, run);
    const choice = body.tools && this.choice(run);
    return { ...body, ...(choice && { tool_choice: choice }) };
  },
};

const FAULTS = {
  // The word of OpenAI is none of Messages.
  'required-is-a-type': { type: (word) => ({ type: word }) },

  // A text is no choice.
  'choice-is-a-text': { type: (word) => word },

  // The form of OpenAI is none of Messages.
  'tool-is-a-function': { tool: (name) => ({ type: 'function', function: { name } }) },

  // A choice of the caller takes the place of the option.
  'choice-or-single': {
    single: (choice, parallel) => choice ?? (parallel === false ? { type: 'auto', disable_parallel_tool_use: true } : undefined),
  },

  // The option takes the place of a choice of the caller.
  'single-or-choice': {
    single: (choice, parallel) => (parallel === false ? { type: 'auto', disable_parallel_tool_use: true } : choice),
  },

  // The option of OpenAI is none of Messages.
  'parallel-as-on-openai': {
    single: (choice) => choice,
    body(run) {
      const { parallel_calls: parallel } = run.given.options;
      return { ...choosing.body.call(this, run), ...(parallel === false && { parallel_tool_calls: false }) };
    },
  },

  // What a round of tools takes back is the option too.
  'single-once': {
    single: (choice, parallel, run) => (called(run) ? choice : choosing.single(choice, parallel)),
  },

  // Where no tool may be called nothing is said.
  'none-is-nothing': { type: (word) => (word === 'none' ? undefined : choosing.type(word)) },

  // The choice goes with requests that have no tools.
  'choice-without-tools': {
    body(run) {
      const choice = this.choice(run);
      return { ...steps.body.call(this, run), ...(choice && { tool_choice: choice }) };
    },
  },

  // Each request forces a call, and at the limit the last text is the answer.
  'forced-to-the-end': {
    choice(run) {
      const { tool_choice: wanted, parallel_calls: parallel } = run.given.options;
      const choice = wanted === undefined ? undefined : wanted.tool ? this.tool(wanted.tool) : this.type(wanted);
      return this.single(choice, parallel);
    },
    async talk(how, given) {
      try {
        return await talk(how, given);
      } catch (error) {
        if (error.reason !== 'limit') throw error;
        return '';
      }
    },
  },
};

const name = process.argv[2];
if (name && !Object.hasOwn(FAULTS, name)) throw new Error(`${name} is none of ${Object.keys(FAULTS).join(', ')}`);

const how = { ...choosing, talk, ...FAULTS[name] };
serve({
  started: {
    name: `choices-messages-${name ?? 'right'}`,
    wires: ['anthropic-messages'],
    capabilities: { limit: true, concurrent: true, tool_choice: true, single_calls: true },
  },
  run: (given) => how.talk(how, given),
});
