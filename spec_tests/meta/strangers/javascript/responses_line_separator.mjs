// Fault: the data of an event is read with a regular expression whose dot stops at U+2028 and U+2029, so the JSON is truncated.
// Rule: only CR, LF and CRLF end a line of an event stream; U+2028 and U+2029 may be unescaped in a JSON string.
// Written in: WHATWG HTML §9.2.5 (Parsing an event stream); RFC 8259 §7; ECMAScript, LineTerminator and the pattern dot.
// Reported like it: openai/codex#33617, Soju06/codex-lb#1010, lightdash/lightdash#26655.

import { LoopError, serve } from './driver.mjs';

const failure = (error) => new LoopError('provider', error?.message ?? `the response failed: ${JSON.stringify(error)}`);

class Stream {
  #items = [];
  #emit;
  response = null;

  constructor(emit) {
    this.#emit = emit;
  }

  #take(event) {
    const { type, output_index: at, item, delta } = event;
    if (type === 'error') throw failure(event.error ?? event);
    if (type === 'response.output_item.added' || type === 'response.output_item.done') this.#items[at] = item;
    else if (type === 'response.function_call_arguments.delta' && this.#items[at])
      this.#items[at] = { ...this.#items[at], arguments: (this.#items[at].arguments ?? '') + delta };
    else if (type === 'response.function_call_arguments.done' && this.#items[at])
      this.#items[at] = { ...this.#items[at], arguments: event.arguments };
    else if (type === 'response.output_text.delta' && delta) this.#emit(delta);
    else if (/^response\.(completed|incomplete|failed)$/.test(type)) {
      const output = event.response.output?.length ? event.response.output : this.#items.filter(Boolean);
      this.response = { ...event.response, output };
    }
  }

  async read(body) {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const bytes of body) {
      rest += decoder.decode(bytes, { stream: true });
      const blocks = rest.split(/\r\n\r\n|\n\n|\r\r(?!$)/);
      rest = blocks.pop();
      for (const block of blocks) {
        const data = [...block.matchAll(/^data: ?(.*)$/gm)].map(([, text]) => text).join('\n'); // the fault
        if (data && data !== '[DONE]') this.#take(JSON.parse(data));
        if (this.response) return this.response;
      }
    }
    throw new LoopError('stream', 'the stream ended before the response did');
  }
}

async function perform(tools, item) {
  const tool = item.type === 'function_call' ? tools.get(item.name) : undefined;
  if (!tool?.execute) return `Error: there is no tool named ${item.name}`;
  try {
    const args = item.arguments?.trim() ? JSON.parse(item.arguments) : {};
    if (args === null || typeof args !== 'object' || Array.isArray(args)) return 'Error: arguments have to be an object';
    const value = await tool.execute(args);
    return typeof value === 'string' ? value : JSON.stringify(value ?? null);
  } catch (error) {
    return `Error: ${error.name}: ${error.message}`;
  }
}

async function run({ base_url, api_key, model, stream, messages, tools: given, options }, emit) {
  const tools = new Map(given.map((tool) => [tool.name, tool]));
  const body = { model, stream, store: false, include: ['reasoning.encrypted_content'], input: [...messages] };
  if (given.length)
    body.tools = given.map(({ name, description, parameters, strict = false }) => ({ type: 'function', name, description, parameters, strict }));
  for (let left = options.limit ?? 25; left > 0; left--) {
    const reply = await fetch(`${base_url}/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${api_key}` },
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
    const { status, error, incomplete_details, output } = stream ? await new Stream(emit).read(reply.body) : await reply.json();
    if (status === 'incomplete') throw new LoopError('truncated', `the reply was cut: ${incomplete_details?.reason}`);
    if (status !== 'completed' || !output) throw failure(error ?? status);
    const calls = output.filter(({ type }) => type === 'function_call' || type === 'custom_tool_call');
    const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
    const refused = parts.find(({ type }) => type === 'refusal');
    if (!calls.length && refused) throw new LoopError('refusal', refused.refusal || 'the model refused');
    if (!calls.length) return parts.map((part) => (part.type === 'output_text' ? part.text : '')).join('');
    body.input.push(...output);
    for (const item of calls)
      body.input.push({ type: `${item.type}_output`, call_id: item.call_id, output: await perform(tools, item) });
  }
  throw new LoopError('limit', 'the iteration limit was reached');
}

const capabilities = { stream: true, chunks: true, limit: true, concurrent: true };
serve({ started: { name: 'responses-line-separator', wires: ['openai-responses'], capabilities }, run });
