// No fault: a stream that the caller may leave; a conversation goes on from the last reply that left nothing open.
import { error, handlers, serve, started, value } from '../../../../drivers/javascript/looptck-driver.mjs';
import { events } from '../fixes/bases/sse.mjs';

const halt = (reason, message) => Object.assign(new Error(message), { reason });

class Talk {
  last = null; // the reply from which the next run goes on: none of its calls is open
  unheard = []; // what the user has said since
}

// The run, as a stream of texts; its return value is the answer. Who leaves it ends it.
class Answering {
  #abort = new AbortController();

  constructor(scenario, talk, signal) {
    Object.assign(this, { scenario, talk, functions: handlers(scenario) });
    if (signal.aborted) this.#abort.abort();
    signal.addEventListener('abort', () => this.#abort.abort());
  }

  async *texts() {
    const { options, messages } = this.scenario;
    this.talk.unheard.push(...messages.map(({ role, content }) => ({ role: role === 'system' ? 'developer' : role, content })));
    let input = this.talk.unheard;
    let last = this.talk.last;
    try {
      for (let left = options.limit ?? 16; left > 0; left--) {
        const response = yield* this.asked(input, last);
        const { text, calls } = this.read(response);
        last = response.id;
        if (!calls.length) {
          Object.assign(this.talk, { last, unheard: [] });
          return text;
        }
        input = await Promise.all(calls.map((call) => this.output(call)));
        this.#abort.signal.throwIfAborted();
      }
    } finally {
      this.#abort.abort();
    }
    throw halt('limit', 'no answer yet');
  }

  async *asked(input, last) {
    const { base_url, api_key, model, tools, stream } = this.scenario;
    const body = {
      model,
      input,
      stream,
      store: true,
      ...(last && { previous_response_id: last }),
      ...(tools.length && { tools: tools.map((tool) => ({ ...offer(tool) })) }),
    };
    const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' };
    const { signal } = this.#abort;
    const reply = await fetch(`${base_url}/responses`, { method: 'POST', headers, body: JSON.stringify(body), signal });
    if (!reply.ok) throw halt('provider', `${reply.status}: ${await reply.text()}`);
    if (!stream) return reply.json();
    for await (const data of events(reply.body)) {
      if (data === '[DONE]') continue;
      const event = JSON.parse(data);
      if (event?.type === 'response.output_text.delta') yield event.delta;
      if (event?.type === 'error') throw halt('provider', data);
      if (['response.completed', 'response.incomplete', 'response.failed'].includes(event?.type)) return event.response;
    }
    throw halt('stream', 'the response has no end');
  }

  read({ status, output, error: failure, incomplete_details: details }) {
    if (status === 'incomplete') throw halt(details?.reason === 'content_filter' ? 'refusal' : 'truncated', `incomplete: ${details?.reason}`);
    if (status !== 'completed') throw halt('provider', failure?.message ?? status);
    const custom = output.find(({ type }) => type === 'custom_tool_call');
    if (custom) throw halt('unknown-tool', custom.name);
    const parts = output.filter(({ type }) => type === 'message').flatMap(({ content }) => content);
    const refused = parts.find(({ type }) => type === 'refusal');
    if (refused) throw halt('refusal', refused.refusal);
    const text = parts.map((part) => part.text ?? '').join('');
    return { text, calls: output.filter(({ type }) => type === 'function_call') };
  }

  async output({ call_id, name, arguments: given }) {
    return { type: 'function_call_output', call_id, output: await this.used(name, given) };
  }

  async used(name, given) {
    const offered = this.scenario.tools.some((tool) => tool.name === name);
    if (!offered || !this.functions[name]) return `<error>${name} cannot be used</error>`;
    try {
      const input = given ? JSON.parse(given) : {};
      if (Object.prototype.toString.call(input) !== '[object Object]') throw new TypeError('arguments are an object');
      const found = await this.functions[name](input, { signal: this.#abort.signal });
      return typeof found === 'string' ? found : JSON.stringify(found);
    } catch (problem) {
      return `<error>${problem.name}: ${problem.message}</error>`;
    }
  }
}

const offer = ({ name, description, parameters }) => ({ type: 'function', name, description, parameters, strict: false });

const talks = new Map();
const able = { stream: true, chunks: true, limit: true, concurrent: true, parallel: true, cancel: true, leave: true };

serve({
  start: () =>
    started({ name: 'a stream to leave', version: '1', wires: ['openai-responses'], ...able, conversations: true, memory: true }),

  async run(scenario, emit, signal) {
    const talk = talks.get(scenario.conversation) ?? new Talk();
    if (scenario.conversation) talks.set(scenario.conversation, talk);
    const texts = new Answering(scenario, talk, signal).texts();
    let left = scenario.options.leave_after ?? Infinity;
    try {
      for (;;) {
        const { done, value: text } = await texts.next();
        if (done) return value(text);
        emit(text);
        if (--left === 0) {
          await texts.return();
          return error(new Error('the caller has left'), { reason: 'cancelled' });
        }
      }
    } catch (problem) {
      return error(problem, { reason: problem.reason });
    }
  },
});
