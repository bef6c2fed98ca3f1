// A right loop on Responses, plain and streamed, without state at the service.
// The events of a stream go to an EventEmitter.

import { EventEmitter } from 'node:events';
import { LoopError } from '../javascript/driver.mjs';
import { Service, dataOf, named, runCall, shown } from './service.mjs';

const OUTPUTS = { function_call: 'function_call_output', custom_tool_call: 'custom_tool_call_output' };

export class Responses {
  constructor(given, emit) {
    this.given = given;
    this.emit = emit;
    this.tools = this.named(given.tools);
    this.input = given.messages.map(({ role, content }) => ({ role, content }));
    this.service = new Service(given, 'responses', { authorization: `Bearer ${given.api_key}` });
  }

  named(tools) {
    return named(tools);
  }

  body() {
    const own = [...this.tools].map(([name, { description, parameters, strict }]) => ({
      type: 'function',
      name,
      description,
      parameters,
      strict: strict ?? false,
    }));
    const tools = [...own, ...(this.given.hosted_tools ?? []).map(({ tool }) => tool ?? { type: 'web_search' })];
    return {
      model: this.given.model,
      input: this.input,
      store: false,
      include: ['reasoning.encrypted_content'],
      ...(tools.length && { tools }),
      ...(this.given.stream && { stream: true }),
    };
  }

  async ask() {
    if (!this.given.stream) return this.service.json(this.body());
    return this.listen((await this.service.post(this.body())).body);
  }

  /** What each kind of event does to the items. */
  register(events, items) {
    const item = (event) => (items[event.output_index] ??= {});
    events.on('response.output_item.added', (event) => (items[event.output_index] = event.item));
    events.on('response.output_item.done', (event) => this.done(items, event));
    events.on('response.output_text.delta', (event) => event.delta && this.emit(event.delta));
    events.on('response.function_call_arguments.delta', (event) => {
      item(event).arguments = (item(event).arguments ?? '') + event.delta;
    });
    events.on('response.function_call_arguments.done', (event) => (item(event).arguments = event.arguments));
  }

  done(items, event) {
    items[event.output_index] = event.item;
  }

  async listen(body) {
    const events = new EventEmitter();
    const items = [];
    this.register(events, items);
    for await (const data of dataOf(body)) {
      const event = data === '[DONE]' ? {} : JSON.parse(data);
      if (event?.type === 'error') throw new LoopError('stream', JSON.stringify(event.error ?? event.message ?? event));
      if (['response.completed', 'response.incomplete', 'response.failed'].includes(event?.type))
        return this.ended(event.response, items.filter(Boolean));
      if (event?.type) events.emit(event.type, event);
    }
    throw new LoopError('stream', 'the stream ended before the response did');
  }

  ended(response, items) {
    return { ...response, output: response.output?.length ? response.output : items };
  }

  /** The items of a response that is whole. */
  whole(reply) {
    if (reply?.status === 'incomplete')
      throw new LoopError('truncated', JSON.stringify(reply.incomplete_details ?? 'cut'));
    if (reply?.status !== 'completed' || !Array.isArray(reply.output))
      throw new LoopError('provider', JSON.stringify(reply?.error ?? `the response is ${reply?.status}`));
    return reply.output;
  }

  kept(output) {
    return output;
  }

  async result(call) {
    const tool = call.type === 'function_call' ? this.tools.get(call.name) : undefined;
    const { text } = await runCall(tool, call.name, call.arguments, shown);
    return { type: OUTPUTS[call.type], call_id: call.call_id, output: text };
  }

  answer(output) {
    const parts = output.filter(({ type }) => type === 'message').flatMap(({ content }) => content ?? []);
    const refused = parts.find(({ type }) => type === 'refusal');
    if (refused) throw new LoopError('refusal', refused.refusal || 'the model refused');
    return parts.filter(({ type }) => type === 'output_text').map(({ text }) => text ?? '').join('');
  }

  async run() {
    for (let left = this.given.options.limit ?? 10; left > 0; left--) {
      const output = this.whole(await this.ask());
      const calls = output.filter(({ type }) => Object.hasOwn(OUTPUTS, type));
      if (!calls.length) return this.answer(output);
      this.input.push(...this.kept(output));
      for (const call of calls) this.input.push(await this.result(call));
    }
    throw new LoopError('limit', 'the limit of model calls is reached');
  }
}
