// Fault: results are collected in the order in which the tools finish, and then assigned to the calls by position.
// Rule: a tool message answers the call that its tool_call_id names.
// Written in: OpenAI API reference, Chat Completions, Tool message; OpenAI guide Function calling, Handling function calls.
// Reported like it: earendil-works/pi#3468, can1357/oh-my-pi#11179 (completion order where call order is meant).

import { LoopError, serve } from './driver.mjs';

const asText = (value) => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

function perform(tools, call, done) {
  const tool = tools.get(call.function?.name);
  if (!tool?.execute) return done(`Error: there is no tool named ${call.function?.name ?? call.custom?.name}`);
  let args;
  try {
    args = call.function.arguments.trim() ? JSON.parse(call.function.arguments) : {};
  } catch (error) {
    return done(`Error: the arguments are not JSON: ${error.message}`);
  }
  if (args === null || typeof args !== 'object' || Array.isArray(args)) return done('Error: arguments have to be an object');
  tool.execute(args).then(
    (value) => done(asText(value)),
    (error) => done(`Error: ${error.name}: ${error.message}`),
  );
}

function performAll(tools, calls) {
  return new Promise((resolve) => {
    const results = [];
    for (const call of calls)
      perform(tools, call, (text) => {
        results.push(text); // the fault: the first to finish is the first here
        if (results.length === calls.length)
          resolve(calls.map((one, at) => ({ role: 'tool', tool_call_id: one.id, content: results[at] })));
      });
  });
}

async function run({ base_url, api_key, model, messages, tools, options }) {
  const history = [...messages];
  const handlers = new Map(tools.map((tool) => [tool.name, tool]));
  const offered = tools.map(({ name, description, parameters, strict }) => ({
    type: 'function',
    function: { name, description, parameters, ...(strict && { strict }) },
  }));
  for (let turn = 0; turn < (options.limit ?? 25); turn++) {
    const reply = await fetch(`${base_url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${api_key}` },
      body: JSON.stringify({ model, messages: history, ...(offered.length && { tools: offered }) }),
    });
    if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
    const { choices, error } = await reply.json();
    if (!choices?.[0]?.message) throw new LoopError('provider', error?.message ?? 'a reply without choices');
    const [{ message, finish_reason: finish }] = choices;
    if (message.refusal) throw new LoopError('refusal', message.refusal);
    if (finish === 'length' || finish === 'content_filter') throw new LoopError('truncated', `cut: ${finish}`);
    if (!message.tool_calls?.length) return message.content ?? '';
    for (const call of message.tool_calls) {
      call.id ||= `call_${crypto.randomUUID()}`;
      const fn = call.function;
      if (fn && typeof fn.arguments !== 'string') fn.arguments = JSON.stringify(fn.arguments ?? {});
    }
    history.push({ ...message, role: 'assistant' }, ...(await performAll(handlers, message.tool_calls)));
  }
  throw new LoopError('limit', 'the iteration limit was reached');
}

const capabilities = { limit: true, concurrent: true, parallel: true };
serve({ started: { name: 'chat-zip-by-completion', wires: ['openai-chat'], capabilities }, run });
