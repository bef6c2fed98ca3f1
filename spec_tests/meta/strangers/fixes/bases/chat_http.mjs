// Chat Completions over node:http with a kept connection, plain replies only, in functions.
// It asks for a title beside the loop, checks arguments against the schema, and asks before it runs what needs approval.
import { confirm, error, handlers, serve, started, value } from './looptck-driver.mjs';
import http from 'node:http';

const agent = new http.Agent({ keepAlive: true });
const problem = (reason, message) => Object.assign(new Error(message), { reason });
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const send = (url, key, body) =>
  new Promise((resolve, reject) => {
    const text = JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    };
    const request = http.request(url, { method: 'POST', agent, headers }, (reply) => {
      const pieces = [];
      reply.on('data', (piece) => pieces.push(piece));
      reply.on('error', reject);
      reply.on('end', () => resolve({ status: reply.statusCode, headers: reply.headers, text: Buffer.concat(pieces).toString() }));
    });
    request.on('error', reject);
    request.end(text);
  });

async function ask(url, key, body) {
  for (let attempt = 0; ; attempt++) {
    let reply;
    try {
      reply = await send(url, key, body);
    } catch (failure) {
      throw problem('provider', failure.message);
    }
    if (reply.status === 200) return parsed(reply.text);
    if (attempt === 3 || (reply.status !== 429 && reply.status < 500)) throw problem('provider', `${reply.status}: ${reply.text}`);
    const seconds = Number(reply.headers['retry-after']);
    await pause(Number.isFinite(seconds) ? seconds * 1000 : 150 * 2 ** attempt);
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw problem('stream', 'the reply is not JSON');
  }
}

// Notes for people have no place in what the model is offered. A parameter may be called like such a note.
function lean(schema) {
  if (Array.isArray(schema)) return schema.map(lean);
  if (schema === null || typeof schema !== 'object') return schema;
  const found = {};
  for (const [name, part] of Object.entries(schema)) {
    if (name === '$comment' || name === 'title') continue;
    const named = ['properties', '$defs', 'definitions', 'patternProperties'].includes(name);
    const fixed = ['enum', 'const', 'default', 'examples', 'required'].includes(name);
    if (fixed) found[name] = part;
    else if (named) found[name] = Object.fromEntries(Object.entries(part).map(([key, one]) => [key, lean(one)]));
    else found[name] = lean(part);
  }
  return found;
}

const offer = ({ name, description, parameters }) => ({
  type: 'function',
  function: { name, description, parameters: { type: 'object', properties: {}, ...lean(parameters) } },
});

// What is wrong with a value by its schema: the words that the tools here use, and no more.
function wrong(schema, given, at = 'arguments') {
  if (typeof schema !== 'object' || schema === null) return schema === false ? `${at} is not allowed` : null;
  if (schema.$ref || schema.anyOf || schema.oneOf || schema.allOf) return null;
  const kinds = schema.type === undefined ? [] : [schema.type].flat();
  if (kinds.length && !kinds.some((kind) => isA(kind, given))) return `${at} must be ${kinds.join(' or ')}`;
  if (schema.enum && !schema.enum.some((one) => JSON.stringify(one) === JSON.stringify(given))) {
    return `${at} must be one of ${JSON.stringify(schema.enum)}`;
  }
  if (Array.isArray(given)) {
    const bad = given.map((one, index) => wrong(schema.items ?? true, one, `${at}[${index}]`));
    return bad.find(Boolean) ?? null;
  }
  if (!isA('object', given)) return null;
  for (const name of schema.required ?? []) if (!Object.hasOwn(given, name)) return `${at} needs ${name}`;
  for (const [name, one] of Object.entries(given)) {
    const known = Object.hasOwn(schema.properties ?? {}, name);
    if (!known && schema.additionalProperties === false) return `${at} has no ${name}`;
    const bad = known ? wrong(schema.properties[name], one, `${at}.${name}`) : null;
    if (bad) return bad;
  }
  return null;
}

const isA = (kind, given) =>
  ({
    null: given === null,
    string: typeof given === 'string',
    boolean: typeof given === 'boolean',
    number: typeof given === 'number',
    integer: Number.isInteger(given),
    array: Array.isArray(given),
    object: typeof given === 'object' && given !== null && !Array.isArray(given),
  })[kind] ?? true;

async function outcome(scenario, functions, call) {
  const { name } = call.function;
  const tool = scenario.tools.find((one) => one.name === name);
  if (!tool || !functions[name]) return `Error: no tool has the name ${name}`;
  let given;
  try {
    given = JSON.parse(call.function.arguments || '{}');
  } catch (failure) {
    return `Error: arguments are not JSON (${failure.message})`;
  }
  const bad = isA('object', given) ? wrong(tool.parameters, given) : 'arguments must be object';
  if (bad) return `Error: ${bad}`;
  if (tool.approval && scenario.confirm) {
    const { decision, feedback, parameters } = await confirm(scenario, call.id, name, given);
    if (decision === 'reject') return `The user refused to run ${name}. ${feedback ?? ''}`;
    if (decision === 'change') given = parameters;
  }
  try {
    const found = await functions[name](given);
    return typeof found === 'string' ? found : JSON.stringify(found ?? null);
  } catch (failure) {
    return `Error: ${failure.name}: ${failure.message}`;
  }
}

function titled(scenario) {
  const messages = [{ role: 'user', content: 'Invent a short title for a new chat.' }];
  return send(`${scenario.base_url}/chat/completions`, scenario.api_key, { model: scenario.model, messages }).catch(() => {});
}

async function answer(scenario, functions) {
  const { base_url, api_key, model, options } = scenario;
  const limit = options.limit ?? 10;
  const tools = scenario.tools.map(offer);
  const messages = [...scenario.messages];
  if (tools.length && limit) titled(scenario);
  for (let turn = 0; turn < limit; turn++) {
    const body = { model, messages, ...(tools.length && { tools, tool_choice: 'auto' }) };
    const reply = await ask(`${base_url}/chat/completions`, api_key, body);
    const choice = reply.choices?.[0];
    if (!choice) throw problem('stream', 'the reply has no choice');
    const { message, finish_reason: finish } = choice;
    if (finish === 'length') throw problem('truncated', 'the reply is cut');
    if (finish === 'content_filter') throw problem('refusal', 'the reply is filtered');
    if (message.refusal) throw problem('refusal', message.refusal);
    const calls = message.tool_calls ?? [];
    if (!calls.length) return message.content ?? '';
    messages.push({ role: 'assistant', content: message.content ?? null, tool_calls: calls });
    for (const call of calls) {
      messages.push({ role: 'tool', tool_call_id: call.id, content: await outcome(scenario, functions, call) });
    }
  }
  throw problem('limit', 'too many turns');
}

serve({
  start: () =>
    started({ name: 'chat over node:http', version: '1', wires: ['openai-chat'], limit: true, concurrent: true, confirm: true, changes: true }),

  async run(scenario) {
    try {
      return value(await answer(scenario, handlers(scenario)));
    } catch (failure) {
      return error(failure, { reason: failure.reason });
    }
  },
});
