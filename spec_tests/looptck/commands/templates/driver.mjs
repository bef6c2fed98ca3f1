// The looptck driver of my loop. docs/capabilities.md of looptck lists what more it may declare.

import { createInterface } from 'node:readline';

const STARTED = {
  protocol: 1,
  name: 'my loop',
  version: '0',
  language: 'javascript',
  wires: ['openai-chat'],
  modes: ['async'],
  profiles: [],
  capabilities: { concurrent: true },
};

// Run the loop on one case and return its final text. It asks scenario.model at scenario.base_url with
// scenario.api_key, beginning with scenario.messages: role and content. Each of scenario.tools has a name, a
// description and parameters (a JSON Schema); functions[name](args) runs it. emit(text) is for loops that stream.
async function answer(scenario, functions, emit) {
  throw new Error('call your loop here'); // the one line to write
}

// Everything below speaks the protocol: JSON lines, and nothing else on standard output.
console.log = console.info = console.debug = console.error;
const send = (message) => process.stdout.write(JSON.stringify(message) + '\n');

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === 'start') send({ type: 'started', ...STARTED });
  if (message.type === 'run') run(message);
  if (message.type === 'stop') process.exit(0);
}

async function run({ id, case: scenario }) {
  const emit = (text) => send({ type: 'chunk', id, text });
  const tools = scenario.tools.filter(({ url }) => url).map(({ name, url }) => [name, (args) => runTool(url, args)]);
  const outcome = await answer(scenario, Object.fromEntries(tools), emit).then(
    (text) => ({ kind: 'value', text: text ?? null }),
    (error) => ({ kind: 'error', reason: 'other', type: String(error?.name), message: String(error?.message) }),
  );
  send({ type: 'finished', id, outcome });
}

async function runTool(url, args) {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify({ arguments: args }) });
  const { value, error } = await response.json();
  if (error) throw Object.assign(new Error(error.message), { name: error.type });
  return value;
}
