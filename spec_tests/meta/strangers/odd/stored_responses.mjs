// No fault: Responses by previous_response_id; a turn ends in a value that says how it ended; arguments are checked.
import { error, handlers, serve, started, value } from '../../../../drivers/javascript/looptck-driver.mjs';
import { setTimeout as sleep } from 'node:timers/promises';

const fail = (reason, message) => {
  throw Object.assign(new Error(message), { reason });
};

class Session {
  last = undefined;
  constructor({ base_url, api_key, model }) {
    Object.assign(this, { url: `${base_url}/responses`, model });
    this.headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' };
  }

  // Ask with what is new; the service knows the rest.
  async ask(input, { tools, instructions, emit, signal }) {
    const body = { model: this.model, input, stream: Boolean(emit) };
    if (tools.length) body.tools = tools;
    if (instructions) body.instructions = instructions;
    if (this.last) body.previous_response_id = this.last;
    const reply = await this.send(body, signal);
    const response = emit ? await this.followed(reply.body, emit) : await reply.json();
    this.last = response.id;
    return response;
  }

  async send(body, signal) {
    const wait = [100, 200, 400];
    for (;;) {
      const reply = await fetch(this.url, { method: 'POST', headers: this.headers, body: JSON.stringify(body), signal });
      if (reply.ok) return reply;
      const said = await reply.text();
      if (!wait.length || ![408, 409, 429, 500, 502, 503, 504].includes(reply.status)) fail('provider', `${reply.status} ${said}`);
      const pause = wait.shift();
      const wanted = Number(reply.headers.get('retry-after') ?? 'none');
      const date = Date.parse(reply.headers.get('retry-after') ?? '') - Date.now();
      await sleep(wanted >= 0 ? wanted * 1000 : date > 0 ? date : pause, undefined, { signal });
    }
  }

  async followed(body, emit) {
    for await (const event of this.events(body)) {
      if (event?.type === 'response.output_text.delta') emit(event.delta);
      if (event?.type === 'error') fail('provider', event.message ?? 'an error event');
      if (/^response\.(completed|incomplete|failed)$/.test(event?.type)) return event.response;
    }
    return fail('stream', 'the end of the response did not come');
  }

  async *events(body) {
    const halves = body.pipeThrough(new TextDecoderStream());
    let buffer = '';
    for await (const piece of halves) {
      buffer += piece;
      // A CR at the end may be half of a CRLF.
      const held = buffer.endsWith('\r') ? buffer.slice(0, -1) : buffer;
      const blocks = held.split(/(?:\r\n|\n|\r)(?:\r\n|\n|\r)/);
      buffer = blocks.pop() + buffer.slice(held.length);
      for (const block of blocks) yield* this.data(block);
    }
    yield* this.data(buffer);
  }

  *data(block) {
    const said = block.split(/\r\n|\n|\r/).filter((line) => line.startsWith('data:')).map((line) => line.slice(5));
    const whole = said.join('\n').trim();
    if (whole && whole !== '[DONE]') yield JSON.parse(whole);
  }
}

const KINDS = {
  string: (one) => typeof one === 'string',
  number: (one) => typeof one === 'number',
  integer: Number.isInteger,
  boolean: (one) => typeof one === 'boolean',
};

// What is wrong with the arguments of a call, if anything is.
function wrong(input, { properties = {}, required = [] }) {
  if (input === null || typeof input !== 'object' || Array.isArray(input)) return 'they are not an object';
  const missing = required.find((name) => !(name in input));
  if (missing) return `${missing} is missing`;
  const bad = Object.keys(input).find((name) => properties[name] && !(KINDS[properties[name].type] ?? (() => true))(input[name]));
  return bad && `${bad} is not a ${properties[bad].type}`;
}

async function output(call, functions, schemas, signal) {
  const { name, arguments: said } = call;
  if (!Object.hasOwn(functions, name)) return `There is no tool called ${name}.`;
  let input;
  try {
    input = JSON.parse(said || '{}');
  } catch (problem) {
    return `These arguments are not JSON: ${problem.message}`;
  }
  const mistake = wrong(input, schemas[name]);
  if (mistake) return `These arguments do not fit: ${mistake}.`;
  try {
    const found = await functions[name](input, { signal });
    return typeof found === 'string' ? found : JSON.stringify(found);
  } catch (problem) {
    if (signal.aborted) throw problem;
    return `The tool ${name} failed: ${problem.message}`;
  }
}

async function conversation(session, scenario, emit, signal) {
  const functions = handlers(scenario);
  const schemas = Object.fromEntries(scenario.tools.map(({ name, parameters }) => [name, parameters]));
  const tools = scenario.tools.map(({ name, description, parameters }) => ({ type: 'function', name, description, parameters, strict: false }));
  const instructions = scenario.messages.filter(({ role }) => role === 'system').map(({ content }) => content).join('\n');
  let input = scenario.messages.filter(({ role }) => role !== 'system').map(({ role, content }) => ({ role, content }));
  const soFar = [];
  for (let asked = 0; asked < (scenario.options.limit ?? 14); asked++) {
    const response = await session.ask(input, { tools, instructions, emit: scenario.stream && emit, signal });
    const parts = response.output.flatMap((item) => (item.type === 'message' ? item.content : []));
    const said = parts.map(({ type, text }) => (type === 'output_text' ? text : '')).join('');
    const refused = parts.filter(({ type }) => type === 'refusal');
    if (response.status === 'incomplete') {
      const filtered = response.incomplete_details?.reason === 'content_filter';
      return value(said, { stop: filtered ? 'content_filter' : 'length' });
    }
    if (response.status !== 'completed') fail('provider', JSON.stringify(response.error));
    if (refused.length) return value(refused[0].refusal, { stop: 'refusal' });
    const calls = response.output.filter(({ type }) => type === 'function_call');
    if (!calls.length) return value(said, { stop: 'end' });
    soFar.push(said);
    input = [];
    for (const call of calls) {
      input.push({ type: 'function_call_output', call_id: call.call_id, output: await output(call, functions, schemas, signal) });
    }
  }
  return value(soFar.join(''), { stop: 'limit' });
}

const able = { stream: true, chunks: true, limit: true, concurrent: true, cancel: true, memory: true };

serve({
  start: () => started({ name: 'responses that are stored', version: '1', wires: ['openai-responses'], ...able }),

  async run(scenario, emit, signal) {
    try {
      return await conversation(new Session(scenario), scenario, emit, signal);
    } catch (problem) {
      return error(problem, { reason: problem.reason });
    }
  },
});
