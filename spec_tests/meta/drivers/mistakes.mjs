// `node mistakes.mjs MISTAKE`: a driver as people write it by hand, with one of the usual mistakes.

import { createInterface } from 'node:readline';

const mistake = process.argv[2];
const started = { type: 'started', protocol: 1, name: 'x', version: '1', language: 'javascript', profiles: [] };
const declared = { ...started, wires: ['openai-chat'], modes: ['async'], capabilities: {} };
const line = (message) => process.stdout.write(JSON.stringify(message) + '\n');

const MISTAKES = {
  'none': {},
  'a log line before started': { start: () => (console.log('Driver is ready.'), line(declared)) },
  'a log line in a run': { before: () => console.log('running a case') },
  'a log line of JSON': { before: () => console.log('{"level":30,"msg":"running a case"}') },
  'an object is printed': { finish: (message) => console.log(message) },
  'JSON over several lines': { finish: (message) => console.log(JSON.stringify(message, null, 2)) },
  'started without a line end': { start: () => process.stdout.write(JSON.stringify(declared)) },
  'finished without a line end': { finish: (message) => process.stdout.write(JSON.stringify(message)) },
  'a chunk without a line end': { before: (id) => process.stdout.write(`{"type":"chunk","id":"${id}","text":"Hi"}`) },
  'no started': { start: () => {} },
  'a stop in another word': { finish: ({ outcome, ...rest }) => line({ ...rest, outcome: { ...outcome, stop: 'stop' } }) },
  'no finished': { finish: () => {} },
  'a /v1 too many': { base: (url) => `${url}/v1` },
  'a /v1 too few': { base: (url) => url.replace(/\/v1$/, '') },
  'another wire': { start: () => line({ ...declared, wires: ['anthropic-messages'] }) },
  'no prompt': { prompt: () => [{ role: 'user', content: 'Tell me a joke.' }] },
  'no instructions': { prompt: (messages) => messages.filter(({ role }) => role !== 'system') },
};
if (mistake === 'it ends at once') process.exit(0);
const same = (one) => one;
const usual = { start: () => line(declared), before() {}, finish: line, base: same, prompt: same };
const made = { ...usual, ...MISTAKES[mistake] };

for await (const text of createInterface({ input: process.stdin })) {
  const message = JSON.parse(text);
  if (message.type === 'start') made.start();
  if (message.type === 'run') run(message.id, message.case);
  if (message.type === 'stop') process.exit(0);
}

async function run(id, scenario) {
  made.before(id);
  const outcome = await answer(scenario).then(
    (found) => ({ kind: 'value', text: found }),
    ({ name, message }) => ({ kind: 'error', reason: 'other', type: name, message }),
  );
  made.finish({ type: 'finished', id, outcome });
}

async function answer({ base_url, model, messages: given, tools }) {
  const messages = made.prompt(given);
  const offered = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  const asked = { model, messages, tools: offered.map((one) => ({ type: 'function', function: one })) };
  for (;;) {
    const { choices } = await post(`${made.base(base_url)}/chat/completions`, asked);
    const [{ message }] = choices;
    messages.push(message);
    if (!message.tool_calls) return message.content;
    for (const { id, function: called } of message.tool_calls) {
      const { url } = tools.find(({ name }) => name === called.name);
      const { value } = await post(url, { arguments: JSON.parse(called.arguments) });
      messages.push({ role: 'tool', tool_call_id: id, content: JSON.stringify(value) });
    }
  }
}

async function post(url, body) {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer a-dummy' };
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
}
