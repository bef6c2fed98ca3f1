// No fault: callbacks and events over node:http, without a promise in the loop; retries with back-off.
import { error, handlers, serve, started, value } from '../../../../drivers/javascript/looptck-driver.mjs';
import { EventEmitter } from 'node:events';
import http from 'node:http';

const end = (reason, message) => Object.assign(new Error(message), { reason });
const BUSY = new Set([408, 409, 429, 500, 502, 503, 504, 529]);

function post(url, key, body, done) {
  const text = JSON.stringify(body);
  const once = (problem, reply) => {
    const call = done;
    done = () => {};
    call(problem, reply);
  };
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  const request = http.request(url, { method: 'POST', headers }, (reply) => {
    let said = '';
    reply.setEncoding('utf8');
    reply.on('data', (piece) => (said += piece));
    reply.on('aborted', () => once(end('stream', 'the reply broke off')));
    reply.on('error', (problem) => once(end('stream', problem.message)));
    reply.on('end', () => once(null, { status: reply.statusCode, after: reply.headers['retry-after'], said }));
  });
  request.on('error', (problem) => once(end('provider', problem.message)));
  request.end(text);
}

function patient(url, key, body, attempt, done) {
  post(url, key, body, (problem, reply) => {
    if (problem) return done(problem);
    if (reply.status === 200) return done(null, reply.said);
    if (attempt === 3 || !BUSY.has(reply.status)) return done(end('provider', `${reply.status} ${reply.said}`));
    const seconds = Number.parseFloat(reply.after);
    const wait = seconds >= 0 ? seconds * 1000 : 100 * 2 ** attempt;
    setTimeout(() => patient(url, key, body, attempt + 1, done), wait);
  });
}

class Loop extends EventEmitter {
  constructor(scenario) {
    super();
    this.scenario = scenario;
    this.functions = handlers(scenario);
    this.messages = scenario.messages.map((message) => ({ ...message }));
    this.left = scenario.options.limit ?? 14;
    this.tools = scenario.tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } }));
    this.on('ask', () => this.ask());
    this.on('reply', (text) => this.read(text));
    this.on('calls', (calls) => this.use(calls, 0));
  }

  ask() {
    if (this.left-- === 0) return this.emit('end', end('limit', 'the model was asked too often'));
    const { base_url, api_key, model } = this.scenario;
    const body = { model, messages: this.messages, ...(this.tools.length ? { tools: this.tools } : {}) };
    patient(`${base_url}/chat/completions`, api_key, body, 0, (problem, text) => {
      if (problem) this.emit('end', problem);
      else this.emit('reply', text);
    });
  }

  read(text) {
    let choice;
    try {
      choice = JSON.parse(text).choices?.[0];
    } catch (problem) {
      return this.emit('end', end('stream', problem.message));
    }
    if (!choice) return this.emit('end', end('provider', `no choice: ${text}`));
    const { message, finish_reason: finish } = choice;
    if (finish === 'length') return this.emit('end', end('truncated', 'cut'));
    if (finish === 'content_filter' || message.refusal) return this.emit('end', end('refusal', message.refusal ?? 'filtered'));
    const calls = message.tool_calls ?? [];
    if (!calls.length) return this.emit('answer', message.content ?? '');
    for (const call of calls) call.function.arguments ||= '{}';
    const known = Object.fromEntries(Object.entries(message).filter(([, part]) => part !== null && part !== undefined));
    this.messages.push(known);
    this.emit('calls', calls);
  }

  use(calls, at) {
    if (at === calls.length) return this.emit('ask');
    this.one(calls[at], (content) => {
      this.messages.push({ role: 'tool', tool_call_id: calls[at].id, content });
      this.use(calls, at + 1);
    });
  }

  one({ function: { name, arguments: text } }, done) {
    if (!Object.hasOwn(this.functions, name)) return done(`error: unknown tool ${name}`);
    let given;
    try {
      given = JSON.parse(text);
    } catch (problem) {
      return done(`error: ${problem.message}`);
    }
    if (given === null || typeof given !== 'object' || Array.isArray(given)) return done('error: arguments must be an object');
    this.functions[name](given).then(
      (found) => done(typeof found === 'string' ? found : JSON.stringify(found ?? null)),
      (problem) => done(`error: ${problem.name}: ${problem.message}`),
    );
  }
}

serve({
  start: () => started({ name: 'callbacks', version: '1', wires: ['openai-chat'], limit: true, concurrent: true }),

  run: (scenario) =>
    new Promise((resolve) => {
      const loop = new Loop(scenario);
      loop.once('answer', (text) => resolve(value(text)));
      loop.once('end', (problem) => resolve(error(problem, { reason: problem.reason })));
      loop.emit('ask');
    }),
});
