// Responses over fetch: the history is a list of items that only grows, reasoning kept, calls together.
// A call that needs approval suspends the run; what is needed to go on is plain JSON.
import { error, handlers, serve, started, suspended, value } from './looptck-driver.mjs';
import { events } from './sse.mjs';

class Interrupted extends Error {
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}

async function request({ base_url, api_key }, body, signal) {
  const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' };
  const reply = await fetch(`${base_url}/responses`, { method: 'POST', headers, body: JSON.stringify(body), signal });
  if (!reply.ok) throw new Interrupted('provider', `HTTP ${reply.status}: ${await reply.text()}`);
  return reply;
}

// The finished response of a stream; text is handed on while it comes.
async function* received(reply) {
  for await (const data of events(reply.body)) {
    if (data !== '[DONE]') yield JSON.parse(data);
  }
}

async function followed(reply, emit) {
  const done = [];
  for await (const event of received(reply)) {
    switch (event.type) {
      case 'response.output_text.delta':
        emit(event.delta);
        break;
      case 'response.output_item.done':
        done[event.output_index] = event.item;
        break;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return { ...event.response, output: event.response.output?.length ? event.response.output : done.filter(Boolean) };
      case 'error':
        throw new Interrupted('provider', event.message ?? JSON.stringify(event));
    }
  }
  throw new Interrupted('stream', 'the stream has no end');
}

function checked(response) {
  const { status, error: failure, incomplete_details: details } = response;
  if (status === 'incomplete') {
    throw new Interrupted(details?.reason === 'content_filter' ? 'refusal' : 'truncated', `incomplete: ${details?.reason}`);
  }
  if (failure || status === 'failed' || status === 'cancelled') throw new Interrupted('provider', failure?.message ?? status);
  return response;
}

function toolsOf(scenario) {
  return scenario.tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    parameters,
    strict: false,
  }));
}

const callsIn = (output) => output.filter(({ type }) => type === 'function_call');

function answerIn(output) {
  const parts = output.filter(({ type }) => type === 'message').flatMap(({ content }) => content);
  const refusal = parts.filter(({ type }) => type === 'refusal').map((part) => part.refusal);
  if (refusal.length) throw new Interrupted('refusal', refusal.join(''));
  return parts.filter(({ type }) => type === 'output_text').map(({ text }) => text).join('');
}

function object(text) {
  try {
    const found = JSON.parse(text || '{}');
    return found !== null && typeof found === 'object' && !Array.isArray(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

class Run {
  constructor(scenario, emit, signal) {
    Object.assign(this, { scenario, emit, signal, functions: handlers(scenario) });
    this.careful = new Set(scenario.tools.filter(({ approval }) => approval).map(({ name }) => name));
  }

  async ask(input) {
    const { model, stream } = this.scenario;
    const tools = toolsOf(this.scenario);
    const body = { model, input, store: false, include: ['reasoning.encrypted_content'], ...(tools.length && { tools }) };
    const reply = await request(this.scenario, { ...body, stream }, this.signal);
    return checked(stream ? await followed(reply, this.emit) : await reply.json());
  }

  async from(items, turns) {
    while (turns-- > 0) {
      const { output } = await this.ask(items);
      items = [...items, ...output];
      const calls = callsIn(output);
      if (!calls.length) return value(answerIn(output));
      const waiting = calls.filter((call) => this.careful.has(call.name) && object(call.arguments));
      if (waiting.length) {
        const shown = waiting.map((call) => ({ id: call.call_id, name: call.name, arguments: object(call.arguments) }));
        return suspended({ items, turns }, shown);
      }
      items = [...items, ...(await this.outputs(calls))];
    }
    throw new Interrupted('limit', 'no turns left');
  }

  resume({ state, decisions }) {
    const answered = new Set(state.items.filter(({ type }) => type === 'function_call_output').map((item) => item.call_id));
    const open = callsIn(state.items).filter((call) => !answered.has(call.call_id));
    const byId = Object.fromEntries(decisions.map((decision) => [decision.id, decision]));
    return this.outputs(open, byId).then((outputs) => this.from([...state.items, ...outputs], state.turns));
  }

  outputs(calls, decisions = {}) {
    return Promise.all(
      calls.map(async (call) => ({
        type: 'function_call_output',
        call_id: call.call_id,
        output: await this.output(call, decisions[call.call_id]),
      })),
    );
  }

  async output(call, decision) {
    let args = object(call.arguments);
    if (!args) return 'Error: the arguments are no JSON object.';
    if (decision?.decision === 'reject') return `Rejected by the user: ${decision.feedback ?? 'no reason given'}`;
    if (decision?.decision === 'change') args = decision.parameters;
    if (!this.functions[call.name]) return `Error: there is no ${call.name}.`;
    try {
      const found = await this.functions[call.name](args, { signal: this.signal });
      return typeof found === 'string' ? found : JSON.stringify(found);
    } catch (problem) {
      if (this.signal.aborted) throw problem;
      return `Error: ${problem.name}: ${problem.message}`;
    }
  }
}

function itemsOf({ role, content, calls = [], call_id }) {
  if (role === 'tool') return [{ type: 'function_call_output', call_id, output: content }];
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  const said = content ? [{ type: 'message', role, content: [{ type, text: content }] }] : [];
  const asked = calls.map(({ id, name, arguments: args }) => ({
    type: 'function_call',
    call_id: id,
    name,
    arguments: JSON.stringify(args),
  }));
  return [...said, ...asked];
}

const able = { stream: true, chunks: true, limit: true, concurrent: true, parallel: true, cancel: true };
const more = { suspend: true, travels: true, changes: true, histories: true };

serve({
  start: () => started({ name: 'responses over fetch', version: '1', wires: ['openai-responses'], ...able, ...more }),

  async run(scenario, emit, signal) {
    const run = new Run(scenario, emit, signal);
    try {
      if (scenario.resume) return await run.resume(scenario.resume);
      return await run.from(scenario.messages.flatMap(itemsOf), scenario.options.limit ?? 20);
    } catch (problem) {
      return error(problem, { reason: problem.reason });
    }
  },
});
