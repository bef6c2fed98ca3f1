// Fault: tools are registered in one map of the module, so a run can call handlers of earlier or concurrent runs.
// Rule: a run calls only the tools that it was given; any other tool is unknown.
// Written in: OpenAI guide Function calling, Handling function calls (the tools of the request are those that may be called).
// Reported like it: NousResearch/hermes-agent#34442, affandar/PilotSwarm#1, buildswithpaul/Frappe_Assistant_Core#199.

import { EventEmitter } from 'node:events';
import { LoopError, serve } from './driver.mjs';

const registry = new Map(); // the fault

function perform(item, done) {
  const handler = item.type === 'function_call' ? registry.get(item.name) : undefined;
  if (!handler) return done(`Error: there is no tool named ${item.name}`);
  let args = {};
  try {
    if (item.arguments?.trim()) args = JSON.parse(item.arguments);
  } catch (error) {
    return done(`Error: the arguments are not JSON: ${error.message}`);
  }
  if (args === null || typeof args !== 'object' || Array.isArray(args)) return done('Error: arguments have to be an object');
  handler(args).then(
    (value) => done(typeof value === 'string' ? value : JSON.stringify(value ?? null)),
    (error) => done(`Error: ${error.name}: ${error.message}`),
  );
}

class Run extends EventEmitter {
  constructor({ base_url, api_key, model, messages, tools, options }) {
    super();
    this.left = options.limit ?? 25;
    this.url = `${base_url}/responses`;
    this.headers = { 'content-type': 'application/json', authorization: `Bearer ${api_key}` };
    this.body = { model, store: false, include: ['reasoning.encrypted_content'], input: [...messages] };
    for (const { name, execute } of tools) if (execute) registry.set(name, execute);
    if (tools.length)
      this.body.tools = tools.map(({ name, description, parameters, strict = false }) => ({ type: 'function', name, description, parameters, strict }));
    this.on('ask', () => this.ask().catch((error) => this.emit('error', error)));
    this.on('calls', (calls) => this.answer(calls));
  }

  async ask() {
    if (this.left-- <= 0) throw new LoopError('limit', 'the iteration limit was reached');
    const reply = await fetch(this.url, { method: 'POST', headers: this.headers, body: JSON.stringify(this.body) });
    if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
    const { status, output, error, incomplete_details: why } = await reply.json();
    if (status === 'incomplete') throw new LoopError('truncated', `the reply was cut: ${why?.reason}`);
    if (status !== 'completed' || !output) throw new LoopError('provider', error?.message ?? `the response is ${status}`);
    const calls = output.filter((item) => item.type === 'function_call' || item.type === 'custom_tool_call');
    this.body.input.push(...output);
    if (calls.length) return this.emit('calls', calls);
    const parts = output.filter((item) => item.type === 'message').flatMap((item) => item.content);
    const refused = parts.find((part) => part.type === 'refusal');
    if (refused) throw new LoopError('refusal', refused.refusal || 'the model refused');
    this.emit('final', parts.map((part) => (part.type === 'output_text' ? part.text : '')).join(''));
  }

  answer([item, ...others]) {
    if (!item) return this.emit('ask');
    perform(item, (output) => {
      this.body.input.push({ type: `${item.type}_output`, call_id: item.call_id, output });
      this.answer(others);
    });
  }
}

const run = (given) =>
  new Promise((resolve, reject) => new Run(given).on('final', resolve).on('error', reject).emit('ask'));

const capabilities = { limit: true, concurrent: true };
serve({ started: { name: 'responses-shared-registry', wires: ['openai-responses'], capabilities }, run });
