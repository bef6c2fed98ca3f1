// Fault: every piece of a call that has an id member opens a new call, even if the id of a later piece is "".
// Rule: pieces of a call are joined by their index; only the first needs the id, and compatible servers send "" later.
// Written in: Chat API reference, chunk object, delta.tool_calls.

import { LoopError, serve } from './driver.mjs';
import { dataOf } from './sse.mjs';

const text = (value) => (typeof value === 'string' ? value : '');

const addTo = (call, { function: fn, id }) => ({
  ...call,
  id: call.id || id || '',
  name: fn?.name === call.name ? call.name : call.name + text(fn?.name),
  args: call.args + (fn?.arguments && typeof fn.arguments === 'object' ? JSON.stringify(fn.arguments) : text(fn?.arguments)),
});

function withPiece(calls, piece) {
  const opens = typeof piece.id === 'string'; // the fault: "" is a string too
  const blank = { index: piece.index ?? null, id: '', name: '', args: '' };
  const at = opens ? -1 : calls.findLastIndex((call) => piece.index == null || call.index === piece.index);
  return at < 0 ? [...calls, addTo(blank, piece)] : calls.with(at, addTo(calls[at], piece));
}

const reduce = (state, { delta, finish_reason }) => ({
  content: state.content + text(delta?.content),
  refusal: state.refusal + text(delta?.refusal),
  calls: (delta?.tool_calls ?? []).reduce(withPiece, state.calls),
  finish: state.finish ?? finish_reason,
});

async function ask({ base_url, api_key, model, tools }, messages, emit) {
  const offered = tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } }));
  const reply = await fetch(`${base_url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${api_key}` },
    body: JSON.stringify({ model, stream: true, messages, ...(offered.length && { tools: offered }) }),
  });
  if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
  let state = { content: '', refusal: '', calls: [] };
  for await (const data of dataOf(reply.body)) {
    if (data === '[DONE]') break;
    const { error, choices } = JSON.parse(data);
    if (error) throw new LoopError('provider', error.message ?? JSON.stringify(error));
    for (const choice of choices ?? []) {
      if (choice.delta?.content) emit(choice.delta.content);
      state = reduce(state, choice);
    }
  }
  if (!state.finish) throw new LoopError('stream', 'the stream ended without a finish reason');
  if (state.refusal) throw new LoopError('refusal', state.refusal);
  if (['length', 'content_filter'].includes(state.finish)) throw new LoopError('truncated', `the reply was cut: ${state.finish}`);
  return state;
}

async function perform(tools, { name, args }) {
  const tool = tools.find((one) => one.name === name);
  if (!tool?.execute) return `Error: there is no tool named ${name}`;
  try {
    const input = args.trim() ? JSON.parse(args) : {};
    if (input === null || typeof input !== 'object' || Array.isArray(input)) return 'Error: the arguments have to be an object';
    const value = await tool.execute(input);
    return typeof value === 'string' ? value : JSON.stringify(value ?? null);
  } catch (error) {
    return `Error: ${error.name}: ${error.message}`;
  }
}

async function run(given, emit) {
  const messages = [...given.messages];
  for (let left = given.options.limit ?? 25; left > 0; left--) {
    const { content, calls } = await ask(given, messages, emit);
    if (!calls.length) return content;
    const tool_calls = calls.map(({ id, name, args }, at) => ({
      id: id || `call_${messages.length}_${at}`,
      type: 'function',
      function: { name, arguments: args },
    }));
    messages.push({ role: 'assistant', content: content || null, tool_calls });
    for (const [at, { id }] of tool_calls.entries())
      messages.push({ role: 'tool', tool_call_id: id, content: await perform(given.tools, calls[at]) });
  }
  throw new LoopError('limit', 'the iteration limit was reached');
}

const capabilities = { stream: true, plain: false, chunks: true, limit: true, concurrent: true };
serve({ started: { name: 'chat-blank-id-opens-call', wires: ['openai-chat'], capabilities }, run });
