// node escaping.mjs [FAULT]: Chat Completions with calls that begin together and are awaited one by one.
// Without a fault each result is caught as soon as it may fail; with one an error escapes, where no caller can catch it.
import { LoopError, serve } from '../javascript/driver.mjs';

const FAULTS = {
  // A call that fails while an earlier one still runs is a rejection that nobody awaits yet: Node.js ends the process.
  'awaited-too-late': { caught: (promise) => promise },

  // What the caller is told on the way is told by a timer, and an error of it has no caller.
  'thrown-in-a-timer': {
    caught: (promise) =>
      promise.catch((problem) => {
        setTimeout(() => {
          throw problem;
        });
        return new Promise(() => {});
      }),
  },
};
const RIGHT = { caught: (promise) => (promise.catch(() => {}), promise) };

async function post({ base_url, api_key, model, tools }, messages) {
  const functions = tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } }));
  const body = { model, messages, ...(functions.length && { tools: functions }) };
  const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' };
  const reply = await fetch(`${base_url}/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new LoopError('provider', `${reply.status} ${await reply.text()}`);
  const choice = (await reply.json()).choices?.[0];
  if (!choice) throw new LoopError('provider', 'no choice');
  if (choice.finish_reason === 'length') throw new LoopError('truncated', 'cut');
  if (choice.finish_reason === 'content_filter' || choice.message.refusal) throw new LoopError('refusal', 'refused');
  return choice.message;
}

async function use(given, { function: { name, arguments: text } }) {
  const tool = given.tools.find((one) => one.name === name);
  if (!tool?.execute) throw new LoopError('unknown-tool', `there is no tool ${name}`);
  const found = await tool.execute(JSON.parse(text || '{}'));
  return typeof found === 'string' ? found : JSON.stringify(found ?? null);
}

async function talk({ caught }, given) {
  const messages = [...given.messages];
  for (let left = given.options.limit ?? 12; left > 0; left--) {
    const message = await post(given, messages);
    if (!message.tool_calls?.length) return message.content;
    messages.push({ role: 'assistant', content: message.content, tool_calls: message.tool_calls });
    const results = message.tool_calls.map((call) => caught(use(given, call)));
    for (const [at, result] of results.entries())
      messages.push({ role: 'tool', tool_call_id: message.tool_calls[at].id, content: await result });
  }
  throw new LoopError('limit', 'too many replies');
}

const name = process.argv[2];
serve({
  started: { name: `escaping-${name ?? 'right'}`, wires: ['openai-chat'], capabilities: { limit: true } },
  run: (given) => talk(FAULTS[name] ?? RIGHT, given),
});
