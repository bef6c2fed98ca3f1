// Fault: a retryable HTTP error starts the whole run again from the prompt, so tools that have already run run a second time.
// Rule: only the request is retried; tools that succeeded do not run again.
// Written in: Anthropic docs, Errors (429, 500, 529: retry the request); Handle tool calls (one execution for a tool_use).
// Reported like it: agno-agi/agno#10366, agentarea/agentarea#320.

import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { LoopError, serve } from './driver.mjs';

const post = (url, headers, body) =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, agent: false }, (reply) => {
      const pieces = [];
      reply.on('data', (piece) => pieces.push(piece));
      reply.on('error', reject);
      reply.on('end', () => resolve({ status: reply.statusCode, headers: reply.headers, text: Buffer.concat(pieces).toString() }));
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });

async function ask({ base_url, api_key, ...body }) {
  const headers = { 'content-type': 'application/json', 'x-api-key': api_key, 'anthropic-version': '2023-06-01' };
  const { status, headers: got, text } = await post(`${base_url}/messages`, headers, body);
  if (status !== 200) {
    const after = Number(got['retry-after'] ?? 0.1);
    const again = [408, 409, 429].includes(status) || status >= 500;
    throw Object.assign(new LoopError('provider', `HTTP ${status}: ${text}`), { again, after: after >= 0 ? after : 0.1 });
  }
  const message = JSON.parse(text);
  if (!Array.isArray(message.content)) throw new LoopError('provider', message.error?.message ?? 'a reply without content');
  return message;
}

async function useTool(tools, { id, name, input, toolset_name }) {
  const result = { type: 'tool_result', tool_use_id: id, ...(toolset_name && { toolset_name }) };
  try {
    const { execute } = tools.find((tool) => tool.name === name) ?? {};
    if (!execute) throw new Error(`there is no tool named ${name}`);
    if (typeof (input ?? {}) !== 'object' || Array.isArray(input)) throw new TypeError('the input has to be an object');
    const value = await execute(input ?? {});
    const content = typeof value === 'string' ? value : JSON.stringify(value ?? null);
    return content ? { ...result, content } : result;
  } catch (error) {
    return { ...result, is_error: true, content: `${error.name}: ${error.message}` };
  }
}

async function attempt({ base_url, api_key, model, messages: given, tools, options }) {
  const body = { base_url, api_key, model, max_tokens: 4096, messages: given.filter((one) => one.role !== 'system') };
  const system = given.filter((one) => one.role === 'system').map((one) => one.content).join('\n\n');
  if (system) body.system = system;
  if (tools.length)
    body.tools = tools.map(({ name, description, parameters, strict }) => ({
      name, description, input_schema: { type: 'object', ...parameters }, ...(strict && { strict }) }));
  for (let left = options.limit ?? 25; left > 0; left--) {
    const { content, stop_reason: stop, stop_details, container } = await ask(body);
    if (stop === 'max_tokens' || stop === 'model_context_window_exceeded') throw new LoopError('truncated', `cut: ${stop}`);
    if (stop === 'refusal') throw new LoopError('refusal', stop_details?.explanation ?? 'the model refused');
    const paused = stop === 'pause_turn' || stop === 'compaction';
    if (stop !== 'tool_use' && !paused) return content.flatMap((one) => (one.type === 'text' ? [one.text] : [])).join('');
    const uses = content.filter((one) => one.type === 'tool_use');
    if (!paused && !uses.length) throw new LoopError('provider', 'the model stopped for tools and called none');
    if (container) body.container = container.id;
    const echo = content.filter((one) => one.type !== 'text' || one.text.trim()); // blank text is not taken back
    if (echo.length) body.messages.push({ role: 'assistant', content: echo });
    if (paused) continue;
    const results = [];
    for (const block of uses) results.push(await useTool(tools, block));
    body.messages.push({ role: 'user', content: results });
  }
  throw new LoopError('limit', 'the iteration limit was reached');
}

async function run(given, _, tries = 3) {
  try {
    return await attempt(given);
  } catch (error) {
    if (!error.again || tries === 1) throw error;
    await sleep(error.after * 1000);
    return run(given, _, tries - 1); // the fault: the request alone should be tried again
  }
}

const capabilities = { limit: true, concurrent: true };
serve({ started: { name: 'messages-retry-runs-tools', wires: ['anthropic-messages'], capabilities }, run: (given) => run(given) });
