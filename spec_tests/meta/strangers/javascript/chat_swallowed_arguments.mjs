// Fault: arguments that are not JSON are treated as {}, so the tool runs without the intended arguments.
// Rule: the model does not always write valid JSON: arguments are validated before the function is called.
// Written in: OpenAI API reference, Chat Completions, Assistant message, tool_calls.function.arguments.
// Reported like it: omnigent-ai/omnigent#2587 (a parse error became {}, and the tool ran).

import { LoopError, serve } from './driver.mjs';

const post = async ({ base_url, api_key }, body) => {
  const reply = await fetch(`${base_url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${api_key}` },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
  const { choices: [first] = [], error } = await reply.json();
  if (!first?.message) throw new LoopError('provider', error?.message ?? 'a reply without choices');
  return first;
};

const parse = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return {}; // the fault; right only for no text at all
  }
};

const perform = async (tools, { function: fn, custom }) => {
  const tool = tools.find(({ name }) => name === fn?.name);
  if (!tool?.execute) return `Error: there is no tool named ${fn?.name ?? custom?.name}`;
  const args = parse(fn.arguments);
  if (args === null || typeof args !== 'object' || Array.isArray(args)) return 'Error: arguments have to be an object';
  return tool.execute(args).then(
    (value) => (typeof value === 'string' ? value : JSON.stringify(value ?? null)),
    (error) => `Error: ${error.name}: ${error.message}`,
  );
};

const answers = async (tools, [call, ...others]) =>
  call ? [{ role: 'tool', tool_call_id: call.id, content: await perform(tools, call) }, ...(await answers(tools, others))] : [];

const step = async (given, tools, messages, left) => {
  if (left <= 0) throw new LoopError('limit', 'the iteration limit was reached');
  const { message, finish_reason: finish } = await post(given, { model: given.model, messages, ...tools });
  if (message.refusal) throw new LoopError('refusal', message.refusal);
  if (['length', 'content_filter'].includes(finish)) throw new LoopError('truncated', `cut: ${finish}`);
  if (!message.tool_calls?.length) return message.content ?? '';
  for (const call of message.tool_calls) {
    call.id ||= `call_${crypto.randomUUID()}`;
    const fn = call.function;
    if (fn && typeof fn.arguments !== 'string') fn.arguments = JSON.stringify(fn.arguments ?? {});
  }
  const results = await answers(given.tools, message.tool_calls);
  return step(given, tools, [...messages, { ...message, role: 'assistant' }, ...results], left - 1);
};

const run = (given) => {
  const tools = given.tools.map(({ name, description, parameters, strict }) => ({
    type: 'function',
    function: { name, description, parameters, ...(strict && { strict }) },
  }));
  return step(given, tools.length ? { tools } : {}, given.messages, given.options.limit ?? 25);
};

const capabilities = { limit: true, concurrent: true };
serve({ started: { name: 'chat-swallowed-arguments', wires: ['openai-chat'], capabilities }, run });
