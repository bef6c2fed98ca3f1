// No fault: a pipeline of async generators; the calls of a turn pass a semaphore of two, results in order of the calls.
import { error, handlers, serve, started, value } from '../../../../drivers/javascript/looptck-driver.mjs';
import { setTimeout as sleep } from 'node:timers/promises';
import { events } from '../fixes/bases/sse.mjs';

const end = (reason, message) => Object.assign(new Error(message), { reason });

class Semaphore {
  #free;
  #waiting = [];
  constructor(places) {
    this.#free = places;
  }
  async with(work) {
    if (this.#free === 0) await new Promise((resolve) => this.#waiting.push(resolve));
    else this.#free--;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}

async function* parsed(source) {
  for await (const data of source) if (data !== '[DONE]') yield JSON.parse(data);
}

async function* spoken(source, emit) {
  for await (const event of source) {
    if (event.type === 'response.output_text.delta') emit(event.delta);
    yield event;
  }
}

async function ended(source) {
  const items = [];
  for await (const event of source) {
    if (event.type === 'error') throw end('provider', event.message ?? JSON.stringify(event));
    if (event.type === 'response.output_item.done') items[event.output_index] = event.item;
    if (['response.completed', 'response.incomplete', 'response.failed'].includes(event.type)) {
      const output = event.response.output?.length ? event.response.output : items.filter(Boolean);
      return { ...event.response, output };
    }
  }
  throw end('stream', 'the stream ended without a response');
}

async function request({ base_url, api_key, model, stream }, input, tools, emit) {
  const body = { model, input, stream, store: false, include: ['reasoning.encrypted_content'], ...(tools.length && { tools }) };
  const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' };
  for (let attempt = 0; ; attempt++) {
    const reply = await fetch(`${base_url}/responses`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (reply.ok) return stream ? ended(spoken(parsed(events(reply.body)), emit)) : reply.json();
    const said = await reply.text();
    if (attempt === 3 || !(reply.status === 429 || reply.status === 408 || reply.status >= 500)) throw end('provider', `${reply.status} ${said}`);
    const seconds = Number.parseFloat(reply.headers.get('retry-after') ?? '');
    await sleep(seconds >= 0 ? seconds * 1000 : 100 * 2 ** attempt);
  }
}

function sound(response) {
  const why = response.incomplete_details?.reason;
  if (response.status === 'incomplete') throw end(why === 'content_filter' ? 'refusal' : 'truncated', `incomplete: ${why}`);
  if (response.error || response.status !== 'completed') throw end('provider', JSON.stringify(response.error ?? response.status));
  return response.output;
}

async function result(functions, { call_id, name, arguments: text }) {
  const output = await (async () => {
    if (!Object.hasOwn(functions, name)) return `error: there is no tool ${name}`;
    const given = JSON.parse(text || '{}');
    if (given === null || typeof given !== 'object' || Array.isArray(given)) return 'error: the arguments are no object';
    const found = await functions[name](given);
    return typeof found === 'string' ? found : JSON.stringify(found ?? null);
  })().catch((problem) => `error: ${problem.name}: ${problem.message}`);
  return { type: 'function_call_output', call_id, output };
}

// Everything that is said, item by item; the last is the answer.
async function* talk(scenario, emit) {
  const functions = handlers(scenario);
  const semaphore = new Semaphore(2);
  const tools = scenario.tools.map(({ name, description, parameters }) => ({ type: 'function', name, description, parameters, strict: false }));
  const history = scenario.messages.map(({ role, content }) => ({ role, content }));
  for (let turn = 0; turn < (scenario.options.limit ?? 20); turn++) {
    const output = sound(await request(scenario, history, tools, emit));
    history.push(...output);
    const calls = output.filter(({ type }) => type === 'function_call');
    if (!calls.length) {
      const parts = output.filter(({ type }) => type === 'message').flatMap(({ content }) => content);
      const refused = parts.filter(({ type }) => type === 'refusal');
      if (refused.length) throw end('refusal', refused.map(({ refusal }) => refusal).join(''));
      yield parts.map(({ text }) => text ?? '').join('');
      return;
    }
    const results = await Promise.all(calls.map((call) => semaphore.with(() => result(functions, call))));
    history.push(...results);
  }
  throw end('limit', 'no turn is left');
}

serve({
  start: () =>
    started({ name: 'a pipeline', version: '1', wires: ['openai-responses'], stream: true, chunks: true, limit: true, parallel: true, concurrent: true }),

  async run(scenario, emit) {
    try {
      let last;
      for await (const text of talk(scenario, emit)) last = text;
      return value(last);
    } catch (problem) {
      return error(problem, { reason: problem.reason });
    }
  },
});
