// node messages.mjs [FAULT]: a right loop on Messages with a format, or with a tool of its own (`tool`), or one with a fault.

import { serve } from '../conversations/runs.mjs';
import { LoopError } from '../javascript/driver.mjs';
import { steps } from '../themes/messages_base.mjs';
import { named } from '../themes/service.mjs';
import { Unfit, checked, gaveUp, handled, parsed, wrapped } from './fitting.mjs';

const OWN = 'respond';
const talks = new Map();

// Every object closed, as the service compiles it, and without what it compiles not.
const compiled = (schema) => {
  if (Array.isArray(schema)) return schema.map(compiled);
  if (schema === null || typeof schema !== 'object') return schema;
  const { minimum, maximum, minLength, maxLength, maxItems, ...rest } = schema;
  const inner = Object.fromEntries(Object.entries(rest).map(([name, one]) => [name, name === 'enum' ? one : compiled(one)]));
  return inner.properties && inner.type === 'object' ? { ...inner, additionalProperties: false } : inner;
};

const format = {
  ...steps,
  schema: (schema) => compiled(wrapped(schema)),
  place(run) {
    return { output_config: { format: { type: 'json_schema', schema: this.schema(run.schema) } } };
  },
  body(run) {
    const body = steps.body.call({ ...this, schema: steps.schema }, run);
    return run.schema ? { ...body, ...this.place(run, body) } : body;
  },
  own: () => undefined,
  calls: (content) => content.filter(({ type }) => type === 'tool_use'),
  value(run, content) {
    return checked(run.schema, parsed(this.answer(content)));
  },
  whole(reply) {
    const { stop_reason: stop } = reply;
    if (['max_tokens', 'model_context_window_exceeded'].includes(stop)) throw new LoopError('truncated', stop);
    if (stop === 'refusal') throw new LoopError('refusal', reply.stop_details?.explanation ?? 'the model refused');
  },
  complaint: (why, calls) =>
    calls.length
      ? calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: why, is_error: true }))
      : [{ type: 'text', text: why }],
  closing: (calls) => calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'Done.' })),
};

const tool = {
  ...format,
  schema: (schema) => wrapped(schema),
  place(run, { tools = [] }) {
    const own = { name: OWN, description: 'Gives the answer.', input_schema: this.schema(run.schema) };
    return { tools: [...tools, own], tool_choice: { type: 'any' } };
  },
  own: (content) => content.find(({ type, name }) => type === 'tool_use' && name === OWN),
  value(run, content) {
    const call = this.own(content);
    if (!call) throw new Unfit(`call ${OWN}`);
    return checked(run.schema, call.input);
  },
};

async function talk(how, given) {
  const before = talks.get(given.conversation) ?? [];
  const said = given.messages.filter(({ role }) => role !== 'system');
  const run = { given, schema: given.output_schema, tools: named(given.tools), history: [...before] };
  const say = (role, content) => {
    const last = run.history.at(-1);
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    if (!blocks.length) return;
    if (last?.role === role) last.content = [...last.content, ...blocks];
    else run.history.push({ role, content: blocks });
  };
  for (const { role, content } of said) say(role, content);
  const service = how.service(given);
  let again = 2;
  try {
    for (let left = given.options.limit ?? 10; left > 0; left--) {
      const reply = await service.json(how.body(run));
      const { content } = reply;
      if (!Array.isArray(content)) throw new LoopError('provider', 'a reply without content');
      how.whole(reply);
      const calls = how.calls(content);
      const kept = content.filter(({ type, text }) => type !== 'text' || text.trim());
      say('assistant', kept);
      if (calls.length && !(run.schema && how.own(content))) {
        const results = [];
        for (const call of calls) results.push(await how.result(run, call));
        say('user', results);
        continue;
      }
      if (!run.schema) return { kind: 'value', text: how.answer(content) };
      try {
        const value = how.value(run, content);
        say('user', how.closing(calls));
        return { kind: 'value', text: null, output: value };
      } catch (error) {
        if (!(error instanceof Unfit)) throw error;
        if (again-- === 0) throw gaveUp(error.message);
        say('user', how.complaint(error.message, calls));
      }
    }
  } finally {
    if (given.conversation) talks.set(given.conversation, run.history);
  }
  throw new LoopError('limit', 'the limit of model calls is reached');
}

const WAYS = {
  // A right loop: the output is the call of its own tool.
  tool,

  // The format is in the member that came first, under a header of its own.
  older: {
    ...format,
    place(run) {
      return { output_format: { type: 'json_schema', schema: this.schema(run.schema) } };
    },
  },

  // The form of Chat is none of Messages.
  'format-of-chat': {
    ...format,
    place(run) {
      return { output_config: { format: { type: 'json_schema', json_schema: { name: 'x', schema: this.schema(run.schema) } } } };
    },
  },

  // The schema goes as it is, open.
  'open-objects': { ...format, schema: (schema) => wrapped(schema) },

  // A cut call is taken for what it has.
  'cut-is-whole': {
    ...tool,
    whole: (reply) => reply.stop_reason === 'max_tokens' || format.whole(reply),
    value(run, content) {
      const call = this.own(content);
      if (!call) throw new Unfit(`call ${OWN}`);
      return call.input;
    },
  },

  // What the model declines with is read as an empty answer.
  'refusal-is-nothing': {
    ...format,
    whole: (reply) => reply.stop_reason === 'refusal' || format.whole(reply),
    value(run, content) {
      const text = this.answer(content);
      return text.startsWith('{') ? checked(run.schema, parsed(text)) : null;
    },
  },

  // The call of the output has no result.
  'open-call': { ...tool, closing: () => [] },

  // An output is handed out as the text of its JSON.
  'input-as-text': {
    ...tool,
    value(run, content) {
      return JSON.stringify(tool.value.call(this, run, content));
    },
  },

  // The model has to give its output at once.
  'output-is-forced': {
    ...tool,
    place(run, body) {
      return { ...tool.place.call(this, run, body), tool_choice: { type: 'tool', name: OWN } };
    },
  },

  // An output that does not fit is handed out.
  unchecked: {
    ...tool,
    value(run, content) {
      const call = this.own(content);
      if (!call) throw new Unfit(`call ${OWN}`);
      return run.schema.type === 'object' ? call.input : call.input.value;
    },
  },

  // A complaint about a call is said in words alone.
  'complaint-in-words': { ...tool, complaint: (why) => [{ type: 'text', text: why }] },
};

const name = process.argv[2];
if (name && !Object.hasOwn(WAYS, name)) throw new Error(`${name} is none of ${Object.keys(WAYS).join(', ')}`);
const how = WAYS[name] ?? format;
serve({
  started: {
    name: `outputs-messages-${name ?? 'right'}`,
    wires: ['anthropic-messages'],
    capabilities: { limit: true, concurrent: true, conversations: true, output: true },
  },
  run: (given) => talk(how, handled(given)),
});
