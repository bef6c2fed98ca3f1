// Fault: the tools of a turn run under one Promise.all, and if one throws, every call is answered with its error.
// Rule: each tool_use gets its own tool_result; only failed calls have is_error.
// Written in: Anthropic docs, Handle tool calls (Handling errors with is_error) and Parallel tool use.
// Reported like it: romankurnovskii/etemaro#133, huggingface/smolagents#2457, earendil-works/pi#3024.

import { LoopError, serve } from './driver.mjs';

const isText = (block) => block.type === 'text';

function resultOf(block, content, isError) {
  const result = { type: 'tool_result', tool_use_id: block.id };
  if (block.toolset_name) result.toolset_name = block.toolset_name;
  if (content) result.content = content;
  if (isError) result.is_error = true;
  return result;
}

async function runTools(tools, blocks) {
  const work = blocks.map(async ({ name, input }) => {
    const tool = tools.get(name);
    if (!tool?.execute) throw new Error(`there is no tool named ${name}`);
    if (typeof (input ?? {}) !== 'object' || Array.isArray(input)) throw new TypeError('the input has to be an object');
    const value = await tool.execute(input ?? {});
    return typeof value === 'string' ? value : JSON.stringify(value ?? null);
  });
  try {
    const texts = await Promise.all(work);
    return blocks.map((block, at) => resultOf(block, texts[at]));
  } catch (error) {
    await Promise.allSettled(work); // nothing runs on behind the next request
    return blocks.map((block) => resultOf(block, `${error.name}: ${error.message}`, true)); // the fault
  }
}

async function run({ base_url, api_key, model, messages: given, tools, options }) {
  const handlers = new Map(tools.map((tool) => [tool.name, tool]));
  const body = { model, max_tokens: 4096, messages: given.filter(({ role }) => role !== 'system') };
  const system = given.filter(({ role }) => role === 'system').map(({ content }) => content);
  if (system.length) body.system = system.join('\n\n');
  if (tools.length)
    body.tools = tools.map(({ name, description, parameters, strict }) => ({
      name, description, input_schema: { type: 'object', ...parameters }, ...(strict && { strict }) }));
  let asked = 0;
  while (asked++ < (options.limit ?? 25)) {
    const reply = await fetch(`${base_url}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': api_key, 'anthropic-version': '2023-06-01' },
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
    const { content, stop_reason, stop_details, container, error } = await reply.json();
    if (!content) throw new LoopError('provider', error?.message ?? 'a reply without content');
    if (container) body.container = container.id;
    const echo = content.filter((block) => !isText(block) || block.text.trim()); // blank text is not taken back
    switch (stop_reason) {
      case 'max_tokens':
      case 'model_context_window_exceeded':
        throw new LoopError('truncated', `the reply was cut: ${stop_reason}`);
      case 'refusal':
        throw new LoopError('refusal', stop_details?.explanation ?? 'the model refused');
      case 'pause_turn':
      case 'compaction':
        if (echo.length) body.messages.push({ role: 'assistant', content: echo });
        break;
      case 'tool_use': {
        const uses = content.filter(({ type }) => type === 'tool_use');
        if (!uses.length) throw new LoopError('provider', 'the model stopped for tools and called none');
        body.messages.push({ role: 'assistant', content: echo }, { role: 'user', content: await runTools(handlers, uses) });
        break;
      }
      default:
        return content.filter(isText).map(({ text }) => text).join('');
    }
  }
  throw new LoopError('limit', 'the iteration limit was reached');
}

const capabilities = { limit: true, concurrent: true, parallel: true };
serve({ started: { name: 'messages-promise-all', wires: ['anthropic-messages'], capabilities }, run });
