// Helpers for drivers in JavaScript: the process that speaks the protocol, tool handlers, outcomes.
//
//     import { error, handlers, serve, started, value } from './looptck-driver.mjs';
//
//     serve({
//       start: () => started({ name: 'my loop', version: '1.0', wires: ['openai-chat'], limit: true }),
//       async run(scenario, emit, signal) {
//         try {
//           return value(await myLoop(scenario.messages, handlers(scenario)));
//         } catch (exception) {
//           return error(exception);
//         }
//       },
//     });
//
// It needs Node.js 18 or later and nothing else, so it can be copied beside a driver. Import it first: from then on
// standard output belongs to the protocol, and whatever else is printed goes to standard error.

import { AsyncLocalStorage } from 'node:async_hooks';

const write = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);

// Serve a driver on standard input and output until `stop`. Runs overlap. `cancel` aborts the signal of a run; if that
// then fails without a reason of its own, it is cancelled. Any other exception of a method ends the process as a crash.
// An exception that no caller can catch would end Node.js; here it ends its run, with that error as the outcome. Node.js
// reports a rejection only after those who await it went on, so an outcome is held back until then. A cancelled run may
// leave such rejections behind: it keeps its own outcome, and of one that has none they are the reason `cancelled`.
export async function serve(driver) {
  const send = (message) => write(JSON.stringify(message) + '\n');
  const running = new Map();
  const place = new AsyncLocalStorage();
  const escapees = new Set();
  const over = new Set();
  const finish = (id, outcome) => running.delete(id) && send({ type: 'finished', id, outcome });
  const run = async (id, scenario) => {
    const abort = new AbortController();
    running.set(id, abort);
    const emit = (told) => escapees.has(id) || send(typeof told === 'object' && told ? { type: 'event', id, event: withId(told) } : { type: 'chunk', id, text: told ?? null });
    const outcome = await ended(driver, scenario, emit, abort.signal);
    over.add(id);
    await new Promise(setImmediate);
    over.delete(id);
    finish(id, outcome);
  };
  const escaped = (exception) => {
    const id = place.getStore() ?? (running.size === 1 ? running.keys().next().value : undefined);
    if (id === undefined) return die(exception);
    console.error('no caller can catch this:', exception);
    const cancelled = running.get(id)?.signal.aborted;
    if (cancelled && over.has(id)) return;
    if (running.has(id)) escapees.add(id);
    finish(id, { ...error(exception, cancelled ? { reason: 'cancelled' } : {}), escaped: true });
  };
  process.on('unhandledRejection', escaped).on('uncaughtException', escaped);
  try {
    for await (const line of lines(process.stdin)) {
      const message = JSON.parse(line);
      if (message.type === 'start') send({ type: 'started', ...(await driver.start()) });
      if (message.type === 'run') place.run(message.id, run, message.id, message.case).catch(thrown);
      if (message.type === 'cancel') running.get(message.id)?.abort();
      if (message.type === 'stop') break;
    }
    await driver.stop?.();
    while (over.size) await new Promise(setImmediate);
    process.exit(0);
  } catch (exception) {
    die(exception);
  }
}

/** JSON leaves out a member that is undefined, as the id is of a call of which the caller gets none. */
const withId = (event) => (event && 'call_id' in event ? { ...event, call_id: event.call_id ?? null } : event);

async function ended(driver, scenario, emit, signal) {
  try {
    const outcome = await driver.run(scenario, emit, signal);
    return signal.aborted && outcome?.reason === 'other' ? { ...outcome, reason: 'cancelled' } : outcome;
  } catch (exception) {
    if (signal.aborted) return error(exception, { reason: 'cancelled' });
    throw exception;
  }
}

// The lines of a stream. Those of node:readline also end at U+2028, which JSON may have in a string.
async function* lines(stream) {
  let rest = '';
  for await (const piece of stream.setEncoding('utf8')) {
    const whole = (rest + piece).split('\n');
    rest = whole.pop();
    yield* whole;
  }
}

function die(...said) {
  for (const one of said) console.error(one);
  process.exit(70);
}

const thrown = (exception) => die(exception, CATCH);
const CATCH =
  'mend: `run` of the driver threw this; make the tools and call the loop in a try, and return error(exception).';

// What `start` returns: name and version of the loop, its wires, and its capabilities by name. `answer` is for a loop that
// takes its answer only by a call of a tool of its own, such as { tool: 'final_answer', argument: 'answer' }.
// `agent_tools` is for a loop whose tools for handoffs and agents do not name the agents, such as
// { handoff: { tool: 'switch', arguments: { to: '{agent}' } } }.
export function started({ name, version, wires, modes = ['async'], profiles = [], ...more }) {
  const { dialect, answer, agent_tools, ...capabilities } = more;
  const found = { protocol: 1, name, version, language: 'javascript', wires, modes, profiles, capabilities };
  return { ...found, ...(dialect && { dialect }), ...(answer && { answer }), ...(agent_tools && { agent_tools }) };
}

// The outcome of a loop that returned: the text that its caller received, null if there was none. `stop` is why the
// loop ended, if it reports that to its caller; `usage` the tokens that this run has used, if it tells them:
// { input_tokens: 81, output_tokens: 12 }, NaN where that is what it tells; `output` is the JSON value that the caller got,
// in a case with `output_schema`.
export function value(text, { stop, usage, ...more } = {}) {
  const strange = Object.keys(more).filter((name) => name !== 'output');
  if (strange.length) throw new TypeError(`an outcome has no ${strange.sort().join(', ')}`);
  return { kind: 'value', text: text ?? null, ...(stop && { stop }), ...(usage && { usage: counted(usage) }), ...more };
}

// JSON would make null of NaN, as if the loop told nothing.
function counted(usage) {
  const names = Object.keys(usage).filter((name) => Number.isNaN(usage[name]));
  return names.length ? { ...usage, not_numbers: names } : usage;
}

// The outcome of a run that waits for decisions about `calls`: { id, name, arguments } of each. `state` is what is
// needed to resume the run, as JSON; the case that resumes it has it in `resume`.
export const suspended = (state, calls) => ({ kind: 'suspended', state, calls });

// The outcome of a loop that threw. `reason`: if the driver knows it. `reasons`: by the name of an error or of its class,
// such as { MaxTurnsExceededError: 'limit' }. They come first, then the errors of tool handlers, and errors of Node.js
// and of the common SDKs; where none fits, the cause of the exception is tried.
export function error(exception, { reason, reasons = {} } = {}) {
  const [type, ...others] = new Set(names(exception));
  const bases = others.filter((name) => name !== 'Object');
  const message = String(exception?.message ?? exception);
  return { kind: 'error', reason: reason ?? guessed(exception, reasons), type, message, bases };
}

function guessed(exception, reasons) {
  for (const one of [exception, exception?.cause]) {
    const found =
      first(names(one), reasons) ?? (one instanceof ToolError ? 'tool' : undefined) ?? first(names(one), REASONS);
    const reason = typeof found === 'function' ? found(one) : found;
    if (reason) return reason;
  }
  return 'other';
}

const first = (all, reasons) => reasons[all.find((name) => Object.hasOwn(reasons, name))];

// What an exception is: its own name, if it has one, and the names of its classes.
function names(exception) {
  if (!(exception instanceof Object)) return [typeof exception];
  const found = exception.name && exception.name !== 'Error' ? [String(exception.name)] : [];
  for (let one = Object.getPrototypeOf(exception); one; one = Object.getPrototypeOf(one)) {
    if (one.constructor?.name) found.push(one.constructor.name);
  }
  return found;
}

// Reasons by the name of an error of Node.js or of the packages openai and @anthropic-ai/sdk, or of a class above it.
const REASONS = {
  AbortError: 'cancelled',
  APIConnectionError: 'provider',
  APIError: ({ status }) => (status ? 'provider' : 'stream'),
  APIUserAbortError: 'cancelled',
  ContentFilterFinishReasonError: 'truncated',
  LengthFinishReasonError: 'truncated',
  SyntaxError: 'stream',
  TypeError: ({ message }) => ({ 'fetch failed': 'provider', terminated: 'stream' })[message],
};

// The error that a handler throws on request; its name is the requested one.
export class ToolError extends Error {
  constructor({ type, message }) {
    super(message);
    this.name = type;
  }
}

// What a handler returns in place of a value, for a loop that declares `parts`: texts { type: 'text', text } and images
// { type: 'image', media_type, data }, in order, with the bytes of an image in base64.
export class Parts extends Array {
  static [Symbol.species] = Array;
}

// A function for each tool of the case that should have a handler, by name. It takes the arguments as one object, and
// { signal } for a tool that can be aborted; it has the name of the tool, and returns or throws what the kit wants.
export function handlers(scenario) {
  const wanted = scenario.tools.filter(({ url }) => url);
  const found = Object.fromEntries(wanted.map(({ name, url }) => [name, handler(name, url)]));
  return Object.setPrototypeOf(found, null); // a call of `constructor` finds no function that every object has
}

function handler(name, url) {
  const call = (args, options) => runTool(url, args, options?.signal);
  return Object.defineProperty(call, 'name', { value: name });
}

async function runTool(url, args, signal) {
  const reply = await post(url, { arguments: args ?? {} }, signal);
  if (reply.error) throw new ToolError(reply.error);
  return reply.parts ? Parts.from(reply.parts) : reply.value;
}

// Ask whether a call may run, in a case with `confirm`. Its arguments are an object, or the text that the model has
// written; in a case of `agent-loop-010` the call as the model has written it takes the place of all three. The decision
// is { decision: 'approve' }, { decision: 'reject', feedback }, { decision: 'change', parameters }, or in
// `agent-loop-010` also { decision: 'replace', call }.
export function confirm(scenario, id, name, args) {
  const call = typeof id === 'object' ? id : { id, name, arguments: args };
  return post(scenario.confirm, { call });
}

// Post a JSON message to a URL of the case; returns the reply.
export async function post(url, message, signal) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(message), signal });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return response.json();
}
