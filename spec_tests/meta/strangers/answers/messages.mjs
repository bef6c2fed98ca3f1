// node messages.mjs [FAULT]: a right loop on Messages that ends only by its own answer tool, or one with a fault.

import { LoopError, serve } from '../javascript/driver.mjs';
import { steps } from '../themes/messages_base.mjs';
import { named } from '../themes/service.mjs';

const ANSWER = 'final_answer';
const OFFER = {
  name: ANSWER,
  description: "Gives the final answer to the user's request.",
  input_schema: {
    type: 'object',
    properties: { answer: { type: 'string', description: 'The answer.' }, sure: { type: 'boolean' } },
    required: ['answer', 'sure'],
  },
};
const CUT = ['max_tokens', 'model_context_window_exceeded'];
const PAUSED = ['pause_turn', 'compaction'];

const isAnswer = ({ name, input }) =>
  name === ANSWER && typeof input?.answer === 'string' && typeof input.sure === 'boolean';

const answering = {
  ...steps,
  choice: { type: 'any' },
  returned: ({ input }) => input.answer,

  offers(run) {
    return [...steps.offers.call(this, run), OFFER];
  },

  body(run) {
    return { ...steps.body.call(this, run), tool_choice: this.choice };
  },

  async execute(run, call) {
    if (call.name !== ANSWER) return steps.execute(run, call);
    return isAnswer(call) ? { text: 'Given.', failed: false } : { text: 'Error: no answer is in it.', failed: true };
  },

  limit() {
    throw new LoopError('limit', 'the limit of model calls is reached');
  },
};

const FAULTS = {
  // The caller gets the arguments of the answer tool, as JSON.
  json: { returned: ({ input }) => JSON.stringify(input) },

  // The caller gets nothing.
  lost: { returned: () => undefined },

  // A limit that was reached looks like an answer.
  untold: { limit: () => 'I could not find an answer.' },
};

/** Talk until the model calls the answer tool; calls beside it run first. */
async function talk(how, given) {
  const history = given.messages.filter(({ role }) => role !== 'system');
  const run = { given, tools: named(given.tools), history, container: undefined, ran: [] };
  const service = how.service(given);
  for (let left = given.options.limit ?? 10; left > 0; left--) {
    const reply = await service.json(how.body(run));
    const { content, stop_reason: stop } = reply ?? {};
    if (!Array.isArray(content))
      throw new LoopError('provider', JSON.stringify(reply?.error ?? 'a reply without content'));
    run.container = reply.container?.id ?? run.container;
    if (CUT.includes(stop)) throw new LoopError('truncated', `the turn was cut: ${stop}`);
    if (stop === 'refusal') throw new LoopError('refusal', reply.stop_details?.explanation ?? 'the model refused');
    if (!PAUSED.includes(stop) && stop !== 'tool_use') throw new LoopError('other', `the turn stopped: ${stop}`);
    const kept = content.filter(({ type, text }) => type !== 'text' || text.trim());
    if (kept.length) how.said(run.history, { role: 'assistant', content: kept });
    if (PAUSED.includes(stop)) continue;
    const calls = content.filter(({ type }) => type === 'tool_use');
    if (!calls.length) throw new LoopError('other', 'the turn has no call');
    const results = [];
    for (const call of calls) results.push(await how.result(run, call));
    how.said(run.history, { role: 'user', content: results });
    const answer = calls.find(isAnswer);
    if (answer) return how.returned(answer);
  }
  return how.limit();
}

const name = process.argv[2];
if (name && !Object.hasOwn(FAULTS, name)) throw new Error(`${name} is none of ${Object.keys(FAULTS).join(', ')}`);

serve({
  started: {
    name: `answers-messages-${name ?? 'right'}`,
    wires: ['anthropic-messages'],
    capabilities: { limit: true, concurrent: true, hosted: true, hosted_others: true },
    answer: { tool: ANSWER, argument: 'answer', others: { sure: true } },
  },
  run: (given) => talk({ ...answering, ...FAULTS[name] }, given),
});
