// No fault: an Anthropic Messages loop without streaming, as the vendor documents it. A control for false alarms.
// Rules kept: Anthropic docs, Handling stop reasons; Handle tool calls; Parallel tool use; Server tools (pause_turn).

import { LoopError, serve } from './driver.mjs';

const CUT = ['max_tokens', 'model_context_window_exceeded'];
const GOES_ON = ['pause_turn', 'compaction'];

async function ask(given, messages, container) {
  const system = given.messages.filter((message) => message.role === 'system').map((message) => message.content);
  const reply = await fetch(`${given.base_url}/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': given.api_key, 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({
      model: given.model,
      max_tokens: 4096,
      messages,
      ...(system.length && { system: system.join('\n\n') }),
      ...(given.tools.length && {
        tools: given.tools.map(({ name, description, parameters, strict }) => ({
          name,
          description,
          input_schema: { type: 'object', ...parameters },
          ...(strict && { strict }),
        })),
      }),
      ...(container && { container }),
    }),
  });
  if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
  const message = await reply.json();
  if (!Array.isArray(message.content)) throw new LoopError('provider', message.error?.message ?? 'a reply without content');
  return message;
}

async function runTool(tools, block) {
  const result = { type: 'tool_result', tool_use_id: block.id, ...(block.toolset_name && { toolset_name: block.toolset_name }) };
  const failed = (content) => ({ ...result, content, is_error: true });
  const tool = tools.find((one) => one.name === block.name);
  if (!tool?.execute) return failed(`There is no tool named ${block.name}`);
  const input = block.input ?? {};
  if (typeof input !== 'object' || Array.isArray(input)) return failed('The input has to be an object');
  try {
    const value = await tool.execute(input);
    const content = typeof value === 'string' ? value : JSON.stringify(value ?? null);
    return content === '' ? result : { ...result, content }; // an empty result has no content
  } catch (error) {
    return failed(`${error.name}: ${error.message}`);
  }
}

async function run(given) {
  const messages = given.messages.filter((message) => message.role !== 'system');
  let container;
  for (let left = given.options.limit ?? 25; left > 0; left--) {
    const reply = await ask(given, messages, container);
    container = reply.container?.id ?? container;
    const stop = reply.stop_reason;
    if (CUT.includes(stop)) throw new LoopError('truncated', `the reply was cut: ${stop}`);
    if (stop === 'refusal') throw new LoopError('refusal', reply.stop_details?.explanation ?? 'the model refused');
    if (stop !== 'tool_use' && !GOES_ON.includes(stop))
      return reply.content.filter((block) => block.type === 'text').map((block) => block.text).join('');
    // The service takes no blank text back; all else returns as it came.
    const content = reply.content.filter((block) => block.type !== 'text' || block.text.trim());
    if (content.length) messages.push({ role: 'assistant', content });
    if (GOES_ON.includes(stop)) continue;
    const uses = reply.content.filter((block) => block.type === 'tool_use');
    if (!uses.length) throw new LoopError('provider', 'the model stopped for tools and called none');
    const results = [];
    for (const block of uses) results.push(await runTool(given.tools, block));
    messages.push({ role: 'user', content: results });
  }
  throw new LoopError('limit', 'the iteration limit was reached');
}

serve({
  started: {
    name: 'right-messages-plain',
    wires: ['anthropic-messages'],
    capabilities: { limit: true, concurrent: true },
  },
  run,
});
