// `node --test`: what the helpers make, and what the process says and hears.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';

const toStdout = process.stdout.write; // the runner of these tests reports on standard output
const { confirm, error, handlers, Parts, started, suspended, ToolError, value } = await import('./looptck-driver.mjs');
process.stdout.write = toStdout;

test('a declaration has the capabilities by name, and async as its mode', () => {
  const dialect = { limit_counts: 'tool-rounds' };
  const found = started({ name: 'loop', version: '1', wires: ['openai-chat'], limit: true, dialect });

  assert.deepEqual(found, {
    protocol: 1,
    name: 'loop',
    version: '1',
    language: 'javascript',
    wires: ['openai-chat'],
    modes: ['async'],
    profiles: [],
    capabilities: { limit: true },
    dialect,
  });
});

test('a value has a text or null, and what else an outcome may have', () => {
  assert.deepEqual(value(undefined), { kind: 'value', text: null });
  assert.deepEqual(value('Hi', { stop: 'end', output: null }), { kind: 'value', text: 'Hi', stop: 'end', output: null });
  assert.deepEqual(value('Hi', { usage: { total_tokens: 3 } }), { kind: 'value', text: 'Hi', usage: { total_tokens: 3 } });
  assert.throws(() => value('Hi', { texts: [] }), /an outcome has no texts/);
});

test('a number of tokens that is NaN is named, because JSON makes null of it', () => {
  const { usage } = value('Hi', { usage: { input_tokens: NaN, output_tokens: 3 } });

  assert.deepEqual(usage.not_numbers, ['input_tokens']);
});

test('a suspended run has its state and its calls', () => {
  const calls = [{ id: 'c1', name: 'weather', arguments: {} }];

  assert.deepEqual(suspended({ at: 1 }, calls), { kind: 'suspended', state: { at: 1 }, calls });
});

class APIError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}
class BadRequestError extends APIError {}
class APIConnectionError extends APIError {}
class MaxTurns extends Error {}

const REASONS = [
  ['a status is an error of the provider', new BadRequestError(400, ''), 'provider'],
  ['an error without a status came in a stream', new APIError(undefined, ''), 'stream'],
  ['a lost connection is an error of the provider', new APIConnectionError(undefined, ''), 'provider'],
  ['a fetch that failed is an error of the provider', new TypeError('fetch failed'), 'provider'],
  ['a body that broke off is an error of a stream', new TypeError('terminated'), 'stream'],
  ['what is no JSON is an error of a stream', new SyntaxError('Unexpected token'), 'stream'],
  ['a tool error is one of a tool', new ToolError({ type: 'KeyError', message: 'no city' }), 'tool'],
  ['an abort is a cancellation', AbortSignal.abort().reason, 'cancelled'],
  ['the cause is tried where the error says nothing', new Error('', { cause: new SyntaxError('') }), 'stream'],
  ['other errors have another reason', new TypeError('x is not a function'), 'other'],
  ['what is thrown need be no error', 'a text', 'other'],
];
for (const [what, thrown, reason] of REASONS) test(what, () => assert.equal(error(thrown).reason, reason));

test('reasons of the driver come before those that are guessed', () => {
  const tool = new ToolError({ type: 'KeyError', message: '' });

  assert.equal(error(new MaxTurns(), { reasons: { MaxTurns: 'limit' } }).reason, 'limit');
  assert.equal(error(tool, { reasons: { KeyError: 'unknown-tool' } }).reason, 'unknown-tool');
  assert.equal(error(tool, { reason: 'arguments' }).reason, 'arguments');
});

test('the type of an error is its own name, or that of its class', () => {
  const named = (thrown) => [error(thrown).type, error(thrown).message];

  assert.deepEqual(named(new BadRequestError(400, 'no')), ['BadRequestError', 'no']);
  assert.deepEqual(named(Object.assign(new Error('no'), { name: 'AI_RetryError' })), ['AI_RetryError', 'no']);
  assert.deepEqual(named('no'), ['string', 'no']);
});

test('the bases of an error are its classes and those above them, the nearest first', () => {
  assert.deepEqual(error(new BadRequestError(400, 'no')).bases, ['APIError', 'Error']);
  assert.deepEqual(error(Object.assign(new MaxTurns(), { name: 'Tired' })).bases, ['MaxTurns', 'Error']);
  assert.deepEqual(error('no').bases, []);
});

test('a handler asks the kit, and returns or throws what that says', async () => {
  const asked = [];
  const replies = [{ value: { warm: true } }, { error: { type: 'KeyError', message: 'no city' } }];
  const server = createServer(async (request, response) => {
    asked.push(JSON.parse(Buffer.concat(await request.toArray())));
    response.end(JSON.stringify(replies.shift()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${server.address().port}/`;
  const { weather, ...more } = handlers({ tools: [{ name: 'weather', url }, { name: 'absent', url: null }] });

  assert.deepEqual([weather.name, more], ['weather', {}]);
  assert.equal(handlers({ tools: [] }).constructor, undefined);
  assert.deepEqual(await weather({ city: 'Paris' }), { warm: true });
  await assert.rejects(weather(), { name: 'KeyError', message: 'no city' });
  replies.push({ decision: 'approve' });
  assert.deepEqual(await confirm({ confirm: url }, 'c1', 'weather', '{}'), { decision: 'approve' });
  replies.push({ decision: 'replace', call: { _tool: 'ping' } });
  const replaced = await confirm({ confirm: url }, { _tool: 'weather', city: '†state.x' });
  assert.deepEqual(replaced, { decision: 'replace', call: { _tool: 'ping' } });
  assert.deepEqual(asked, [
    { arguments: { city: 'Paris' } },
    { arguments: {} },
    { call: { id: 'c1', name: 'weather', arguments: '{}' } },
    { call: { _tool: 'weather', city: '†state.x' } },
  ]);
  const image = { type: 'image', media_type: 'image/png', data: 'iVBORw0K' };
  replies.push({ parts: [{ type: 'text', text: 'Seen.' }, image] });
  const parts = await weather({});
  assert.ok(parts instanceof Parts);
  assert.deepEqual([...parts], [{ type: 'text', text: 'Seen.' }, image]);
  assert.deepEqual(parts.map(({ type }) => type), ['text', 'image']);
  server.closeAllConnections();
  server.close();
});

const MODULE = new URL('./looptck-driver.mjs', import.meta.url).href;

// What a driver says to these messages, what it prints, and its exit status.
async function said(driver, ...messages) {
  const code = `import { error, serve, value } from '${MODULE}';\n${driver}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: 'pipe' });
  const heard = child.stdout.setEncoding('utf8').toArray();
  const wrong = child.stderr.setEncoding('utf8').toArray();
  child.stdin.end(messages.map((one) => JSON.stringify(one) + '\n').join(''));
  const [status] = await once(child, 'exit');
  const lines = (await heard).join('').split('\n').filter(Boolean);
  return { status, said: lines.map((line) => JSON.parse(line)), printed: (await wrong).join('') };
}

const run = (id, given = {}) => ({ type: 'run', id, case: given });
const finished = (id, outcome) => ({ type: 'finished', id, outcome });

test('other output goes to standard error', async () => {
  const driver = `console.log('one'); process.stdout.write('two'); console.info('three');
    serve({ start: () => ({ name: 'x' }) });`;
  const found = await said(driver, { type: 'start', protocol: 1 }, { type: 'stop' });

  assert.deepEqual([found.status, found.said], [0, [{ type: 'started', name: 'x' }]]);
  assert.equal(found.printed, 'one\ntwothree\n');
});

test('runs overlap, and chunks go out under their ids', async () => {
  const driver = `let open;
    const opened = new Promise((resolve) => (open = resolve));
    serve({ async run({ waits }, emit) {
      emit('begun');
      await (waits ? opened : open());
      return value('done');
    }, stop: () => opened.then(() => new Promise(setImmediate)) });`;
  const found = await said(driver, run('a', { waits: true }), run('b', { waits: false }));
  const chunks = ['a', 'b'].map((id) => ({ type: 'chunk', id, text: 'begun' }));

  assert.deepEqual([found.status, found.said.slice(0, 2)], [0, chunks]);
  assert.deepEqual(new Set(found.said.slice(2)), new Set([finished('a', value('done')), finished('b', value('done'))]));
});

test('cancelling aborts the signal of one run, which is cancelled if it fails without a reason of its own', async () => {
  const driver = `const gone = (signal) =>
      new Promise((_, refuse) => signal.addEventListener('abort', () => refuse(new Error('gone'))));
    serve({ run: ({ how, reason }, emit, signal) => gone(signal).catch((exception) => {
      if (how === 'throws') throw exception;
      return how === 'value' ? value('so far') : error(exception, { reason });
    }), stop: () => new Promise(setImmediate) });`;
  const ways = [{ how: 'throws' }, { how: 'error' }, { how: 'error', reason: 'provider' }, { how: 'value' }];
  const ids = ways.map((_, n) => `r${n}`);
  const runs = ways.map((way, n) => run(ids[n], way));
  const found = await said(driver, ...runs, ...ids.map((id) => ({ type: 'cancel', id })));
  const gone = (reason) => ({ kind: 'error', reason, type: 'Error', message: 'gone', bases: [] });
  const outcomes = Object.fromEntries(found.said.map(({ id, outcome }) => [id, outcome]));

  assert.deepEqual(outcomes, { r0: gone('cancelled'), r1: gone('cancelled'), r2: gone('provider'), r3: value('so far') });
});

test('what a method throws ends the process as a crash, and its mend is told last', async () => {
  const found = await said("serve({ run() { throw new Error('the driver is broken'); } });", run('a'));

  assert.deepEqual([found.status, found.said], [70, []]);
  assert.match(found.printed, /the driver is broken[^]*mend: .*return error\(exception\)\.\n$/);
});

test('a text that is emitted is a chunk, and an object an event', async () => {
  const event = { kind: 'call', call_id: 'c1', name: 'ping', arguments: {} };
  const driver = `serve({ async run({ event }, emit) {
      emit('Well,');
      emit(event);
      emit({ ...event, call_id: undefined });
      emit(null);
      return value('done');
    } });`;
  const found = await said(driver, run('r1', { event }));

  assert.deepEqual(found.said.slice(0, 4), [
    { type: 'chunk', id: 'r1', text: 'Well,' },
    { type: 'event', id: 'r1', event },
    { type: 'event', id: 'r1', event: { ...event, call_id: null } },
    { type: 'chunk', id: 'r1', text: null },
  ]);
});

test('an exception that no caller can catch ends its run, and no other, as an error', async () => {
  const driver = `const gone = (how) => { throw new TypeError(how); };
    const ways = { rejects: () => void Promise.resolve('rejects').then(gone), throws: () => setImmediate(gone, 'throws') };
    let open, lost = 0;
    const opened = new Promise((resolve) => (open = resolve));
    serve({ async run({ how }, emit) {
      ways[how]?.();
      await opened;
      emit('late');
      return how === 'waits' ? value('done') : new Promise(() => {});
    }, stop: () => opened.then(() => new Promise(setImmediate)) });
    const count = () => ++lost === 2 && open();
    process.on('unhandledRejection', count).on('uncaughtException', count);`;
  const found = await said(driver, ...['rejects', 'throws', 'waits'].map((how) => run(how, { how })));
  const outcomes = Object.fromEntries(found.said.filter(({ outcome }) => outcome).map(({ id, outcome }) => [id, outcome]));
  const error = { kind: 'error', reason: 'other', type: 'TypeError', bases: ['Error'], escaped: true };
  const lost = (message) => ({ ...error, message });

  assert.equal(found.status, 0);
  assert.deepEqual(outcomes, { rejects: lost('rejects'), throws: lost('throws'), waits: value('done') });
  assert.deepEqual(new Set(found.said.filter(({ type }) => type === 'chunk').map(({ id }) => id)), new Set(['waits']));
  assert.match(found.printed, /no caller can catch this: TypeError: rejects/);
});

test('a rejection that nobody awaits is the outcome of its run, also beside an error that was caught or a value', async () => {
  const driver = `serve({ async run({ how }) {
      const failing = Promise.reject(new TypeError('lost'));
      failing.then(() => {});
      try { await failing; } catch (exception) { return how === 'error' ? error(exception) : value('done'); }
    }, stop: () => new Promise(setImmediate) });`;
  const found = await said(driver, ...['error', 'value'].map((how) => run(how, { how })));
  const lost = { kind: 'error', reason: 'other', type: 'TypeError', message: 'lost', bases: ['Error'], escaped: true };

  assert.deepEqual(found.said, [finished('error', lost), finished('value', lost)]);
});

test('a run that was cancelled keeps its outcome, whatever rejections it leaves behind', async () => {
  const driver = `serve({ async run(scenario, emit, signal) {
      const failing = new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('lost'))));
      failing.then(() => {});
      try { await failing; } catch (exception) { return error(exception); }
    }, stop: () => new Promise(setImmediate) });`;
  const found = await said(driver, run('a'), { type: 'cancel', id: 'a' });
  const cancelled = { kind: 'error', reason: 'cancelled', type: 'Error', message: 'lost', bases: [] };

  assert.deepEqual(found.said, [finished('a', cancelled)]);
});

test('an exception outside of all runs ends the process as a crash', async () => {
  const found = await said("serve({ stop: () => (Promise.reject(new Error('outside')), new Promise(setImmediate)) });");

  assert.equal(found.status, 70);
  assert.match(found.printed, /outside/);
});

test('a line ends at a line feed alone, and a run that is over cannot be cancelled', async () => {
  const driver = 'serve({ run: ({ text }) => value(text), stop: () => new Promise(setImmediate) });';
  const found = await said(driver, run('a', { text: '\u2028' }), { type: 'cancel', id: 'a' }, { type: 'cancel', id: 'b' });

  assert.deepEqual(found, { status: 0, said: [finished('a', value('\u2028'))], printed: '' });
});
