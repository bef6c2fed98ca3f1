// No fault: a Chat Completions loop that validates arguments against the declared schema, and reports violations to the model.
// Rules kept: OpenAI API reference, Chat Completions ("validate the arguments before calling"); JSON Schema 2020-12 validation.

import { randomUUID } from 'node:crypto';
import { LoopError, serve } from './driver.mjs';

const IS = {
  object: (value) => value !== null && typeof value === 'object' && !Array.isArray(value),
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
};

/** What is wrong with a value: types, required and forbidden properties, at every depth. Other keywords are not looked at. */
function* faults(schema, value, at = 'arguments') {
  if (schema === null || typeof schema !== 'object') return;
  const types = [schema.type ?? []].flat();
  if (types.length && !types.some((type) => IS[type]?.(value))) {
    yield `${at}: should be ${types.join(' or ')}`;
    return;
  }
  if (IS.array(value)) for (const [index, item] of value.entries()) yield* faults(schema.items, item, `${at}[${index}]`);
  if (!IS.object(value)) return;
  for (const name of schema.required ?? []) if (!Object.hasOwn(value, name)) yield `${at}: ${name} is missing`;
  for (const [name, item] of Object.entries(value)) {
    if (Object.hasOwn(schema.properties ?? {}, name)) yield* faults(schema.properties[name], item, `${at}.${name}`);
    else if (Object.keys(schema.patternProperties ?? {}).some((pattern) => new RegExp(pattern, 'u').test(name))) continue;
    else if (schema.additionalProperties === false) yield `${at}: ${name} is not allowed`;
    else yield* faults(schema.additionalProperties, item, `${at}.${name}`);
  }
}

class Conversation {
  #given;
  #messages;
  #tools;

  constructor(given) {
    this.#given = given;
    this.#messages = [...given.messages];
    this.#tools = new Map(given.tools.map((tool) => [tool.name, tool]));
  }

  async #ask() {
    const { base_url, api_key, model, tools } = this.#given;
    const offered = tools.map(({ name, description, parameters, strict }) => ({
      type: 'function',
      function: { name, description, parameters, ...(strict && { strict }) },
    }));
    const reply = await fetch(`${base_url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${api_key}` },
      body: JSON.stringify({ model, messages: this.#messages, ...(offered.length && { tools: offered }) }),
    });
    if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
    const whole = await reply.json();
    const choice = whole.choices?.[0];
    if (!choice?.message) throw new LoopError('provider', whole.error?.message ?? 'a reply without choices');
    return choice;
  }

  async #result(call) {
    const tool = this.#tools.get(call.function?.name);
    if (!tool?.execute) return `Error: there is no tool named ${call.function?.name ?? call.custom?.name}`;
    try {
      const args = call.function.arguments.trim() ? JSON.parse(call.function.arguments) : {};
      const wrong = [...faults({ ...tool.parameters, type: 'object' }, args)];
      if (wrong.length) return `Error: the arguments do not fit the schema: ${wrong.join('; ')}`;
      const value = await tool.execute(args);
      return typeof value === 'string' ? value : JSON.stringify(value ?? null);
    } catch (error) {
      return `Error: ${error.name}: ${error.message}`;
    }
  }

  async run() {
    for (let asked = 0; asked < (this.#given.options.limit ?? 25); asked++) {
      const { message, finish_reason: finish } = await this.#ask();
      if (message.refusal) throw new LoopError('refusal', message.refusal);
      if (finish === 'length' || finish === 'content_filter') throw new LoopError('truncated', `the reply was cut: ${finish}`);
      if (!message.tool_calls?.length) return message.content ?? '';
      for (const call of message.tool_calls) {
        call.id ||= `call_${randomUUID()}`;
        if (!call.function) continue;
        const text = call.function.arguments ?? '';
        call.function.arguments = typeof text === 'string' ? text : JSON.stringify(text);
      }
      this.#messages.push({ ...message, role: 'assistant' });
      for (const call of message.tool_calls)
        this.#messages.push({ role: 'tool', tool_call_id: call.id, content: await this.#result(call) });
    }
    throw new LoopError('limit', 'the iteration limit was reached');
  }
}

serve({
  started: {
    name: 'right-chat-validating',
    wires: ['openai-chat'],
    capabilities: { limit: true, concurrent: true },
  },
  run: (given) => new Conversation(given).run(),
});
