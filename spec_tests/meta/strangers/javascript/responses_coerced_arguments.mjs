// Fault: string arguments that are valid JSON are parsed again, so "007" stays, but "42" becomes 42, "true" true, "[]" a list.
// Rule: the arguments are the JSON that the model wrote; a string in it stays a string.
// Written in: OpenAI API reference, Responses, function_call.arguments (a JSON string of the arguments); RFC 8259 §7.
// Reported like it: kaeawc/auto-mobile#4241 (every value through JSON.parse makes numeric strings unpassable).

import { LoopError, serve } from './driver.mjs';
import { dataOf } from './sse.mjs';

const refuse = (reason, message) => {
  throw new LoopError(reason, message);
};

function coerce(value) {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value); // the fault
  } catch {
    return value;
  }
}

async function* events(reply) {
  for await (const data of dataOf(reply.body)) if (data !== '[DONE]') yield JSON.parse(data);
}

async function readStream(reply, emit) {
  const items = new Map();
  const change = (at, change) => items.has(at) && items.set(at, { ...items.get(at), arguments: change(items.get(at).arguments ?? '') });
  const handlers = {
    'response.output_item.added': ({ output_index: at, item }) => void items.set(at, item),
    'response.output_item.done': ({ output_index: at, item }) => void items.set(at, item),
    'response.function_call_arguments.delta': ({ output_index: at, delta }) => void change(at, (text) => text + delta),
    'response.function_call_arguments.done': ({ output_index: at, arguments: all }) => void change(at, () => all),
    'response.output_text.delta': ({ delta }) => void (delta && emit(delta)),
    'response.completed': ({ response }) => response,
    'response.incomplete': ({ response }) => response,
    'response.failed': ({ response }) => response,
    error: (event) => refuse('provider', event.message ?? event.error?.message ?? 'the stream reported an error'),
  };
  for await (const event of events(reply)) {
    const response = Object.hasOwn(handlers, event.type) && handlers[event.type](event);
    if (!response) continue;
    const streamed = [...items].sort(([one], [other]) => one - other).map(([, item]) => item);
    return { ...response, output: response.output?.length ? response.output : streamed };
  }
  return refuse('stream', 'the stream ended before the response did');
}

async function perform(tools, item) {
  const tool = item.type === 'function_call' && tools.find(({ name }) => name === item.name);
  if (!tool?.execute) return `Error: there is no tool named ${item.name}`;
  try {
    const args = item.arguments?.trim() ? JSON.parse(item.arguments) : {};
    if (args === null || typeof args !== 'object' || Array.isArray(args)) throw new TypeError('arguments have to be an object');
    const value = await tool.execute(Object.fromEntries(Object.entries(args).map(([key, one]) => [key, coerce(one)])));
    return typeof value === 'string' ? value : JSON.stringify(value ?? null);
  } catch (error) {
    return `Error: ${error.name}: ${error.message}`;
  }
}

async function run({ base_url, api_key, model, stream, messages, tools, options }, emit) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${api_key}` };
  const offered = tools.map(({ name, description, parameters, strict = false }) => ({ type: 'function', name, description, parameters, strict }));
  const request = { model, stream, store: false, include: ['reasoning.encrypted_content'], ...(offered.length && { tools: offered }) };
  let input = messages;
  for (let left = options.limit ?? 25; left > 0; left--) {
    const reply = await fetch(`${base_url}/responses`, { method: 'POST', headers, body: JSON.stringify({ ...request, input }) });
    if (!reply.ok) refuse('provider', `HTTP ${reply.status}: ${await reply.text()}`);
    const { status, output, error, incomplete_details: why } = stream ? await readStream(reply, emit) : await reply.json();
    if (status === 'incomplete') refuse('truncated', `the reply was cut: ${why?.reason}`);
    if (status !== 'completed' || !output) refuse('provider', error?.message ?? `the response is ${status}`);
    const calls = output.filter(({ type }) => ['function_call', 'custom_tool_call'].includes(type));
    if (calls.length) {
      input = [...input, ...output];
      for (const item of calls)
        input.push({ type: `${item.type}_output`, call_id: item.call_id, output: await perform(tools, item) });
      continue;
    }
    const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
    for (const part of parts) if (part.type === 'refusal') refuse('refusal', part.refusal || 'the model refused');
    return parts.flatMap((part) => (part.type === 'output_text' ? [part.text] : [])).join('');
  }
  return refuse('limit', 'the iteration limit was reached');
}

const capabilities = { stream: true, chunks: true, limit: true, concurrent: true };
serve({ started: { name: 'responses-coerced-arguments', wires: ['openai-responses'], capabilities }, run });
