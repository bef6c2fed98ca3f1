// Fault: the status failed of a response is ignored, so a run whose model failed ends with an empty answer.
// Rule: a failed response has an error and no answer, in a plain reply and in the last event of a stream.
// Written in: Responses API reference, the response object (status, error); streaming events, response.failed.

import { EventEmitter, once } from 'node:events';
import { LoopError, serve } from './driver.mjs';
import { dataOf } from './sse.mjs';

class Conversation extends EventEmitter {
  constructor(given) {
    super();
    this.given = given;
    this.input = [...given.messages];
    this.left = given.options.limit ?? 25;
    this.on('ask', () => this.#ask().catch((error) => this.emit('end', error)));
    this.on('response', (response) => this.#take(response).catch((error) => this.emit('end', error)));
  }

  async #ask() {
    const { base_url, api_key, model, stream, tools } = this.given;
    if (this.left-- <= 0) throw new LoopError('limit', 'the iteration limit was reached');
    const offered = tools.map(({ name, description, parameters, strict = false }) => ({ type: 'function', name, description, parameters, strict }));
    const body = { model, stream, store: false, include: ['reasoning.encrypted_content'], input: this.input, ...(offered.length && { tools: offered }) };
    const reply = await fetch(`${base_url}/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${api_key}` },
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
    this.emit('response', stream ? await this.#read(reply.body) : await reply.json());
  }

  async #read(stream) {
    const done = [];
    for await (const data of dataOf(stream)) {
      const event = data === '[DONE]' ? {} : JSON.parse(data);
      if (event.type === 'error') throw new LoopError('stream', event.message ?? event.error?.message ?? data);
      if (event.type === 'response.output_item.done') done[event.output_index] = event.item;
      if (event.type === 'response.output_text.delta' && event.delta) this.emit('text', event.delta);
      if (/^response\.(completed|incomplete|failed)$/.test(event.type))
        return { ...event.response, output: event.response.output?.length ? event.response.output : done.filter(Boolean) };
    }
    throw new LoopError('stream', 'the stream ended before the response did');
  }

  async #take({ status, incomplete_details, output = [] }) {
    if (status === 'incomplete') throw new LoopError('truncated', `the reply was cut: ${incomplete_details?.reason}`);
    const items = status === 'completed' ? output : []; // the fault: what is not completed is as good as empty
    const calls = items.filter(({ type }) => type === 'function_call' || type === 'custom_tool_call');
    const parts = items.flatMap((item) => (item.type === 'message' ? item.content : []));
    const refusal = parts.find(({ type }) => type === 'refusal');
    if (refusal && !calls.length) throw new LoopError('refusal', refusal.refusal || 'the model refused');
    if (!calls.length) return this.emit('end', null, parts.map(({ text }) => text ?? '').join(''));
    this.input.push(...items);
    for (const call of calls)
      this.input.push({ type: `${call.type}_output`, call_id: call.call_id, output: await this.#perform(call) });
    this.emit('ask');
  }

  async #perform({ type, name, arguments: raw }) {
    const tool = type === 'function_call' && this.given.tools.find((one) => one.name === name);
    if (!tool?.execute) return `Error: there is no tool named ${name}`;
    try {
      const args = raw?.trim() ? JSON.parse(raw) : {};
      if (args === null || typeof args !== 'object' || Array.isArray(args)) return 'Error: the arguments have to be an object';
      const value = await tool.execute(args);
      return typeof value === 'string' ? value : JSON.stringify(value ?? null);
    } catch (error) {
      return `Error: ${error.name}: ${error.message}`;
    }
  }
}

async function run(given, emit) {
  const conversation = new Conversation(given).on('text', emit);
  const end = once(conversation, 'end');
  conversation.emit('ask');
  const [error, text] = await end;
  if (error) throw error;
  return text;
}

const capabilities = { stream: true, chunks: true, limit: true, concurrent: true };
serve({ started: { name: 'responses-failed-is-empty', wires: ['openai-responses'], capabilities }, run });
