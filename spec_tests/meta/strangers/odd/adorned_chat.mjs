// No fault: every request has many options, results are lists of parts, and a run that is left answers its open calls.
import { error, handlers, serve, started, value } from '../../../../drivers/javascript/looptck-driver.mjs';
import { setTimeout as sleep } from 'node:timers/promises';
import { events } from '../fixes/bases/sse.mjs';

class Ended extends Error {
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}

const part = (text) => ({ type: 'text', text });

// What a conversation has said; nothing is taken out of it, and it never ends between a call and its result.
class Log {
  messages = [];
  open = new Map();

  add(message) {
    this.messages.push(message);
    for (const call of message.tool_calls ?? []) this.open.set(call.id, message.tool_calls);
  }

  answer(id, text) {
    this.open.delete(id);
    this.messages.push({ role: 'tool', tool_call_id: id, content: [part(text)] });
  }

  close() {
    for (const id of [...this.open.keys()]) this.answer(id, 'There is no result, because the run was stopped.');
  }
}

function options({ model, tools, stream }) {
  return {
    model,
    stream,
    ...(stream && { stream_options: { include_usage: true } }),
    ...(tools.length && { tools: tools.map(offer), tool_choice: 'auto', parallel_tool_calls: true }),
    max_completion_tokens: 3000,
    temperature: 0.4,
    top_p: 0.95,
    seed: 7,
    store: false,
    metadata: { team: 'weather' },
    prompt_cache_key: 'weather-desk',
    user: 'user-1',
    response_format: { type: 'text' },
  };
}

const offer = ({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } });

async function asked({ base_url, api_key }, body, signal) {
  for (let left = 3; ; left--) {
    const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json', accept: '*/*' };
    const reply = await fetch(`${base_url}/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body), signal });
    if (reply.ok) return reply;
    const said = await reply.text();
    if (!left || ![408, 409, 429, 500, 502, 503, 504, 529].includes(reply.status)) throw new Ended('provider', `${reply.status} ${said}`);
    const after = reply.headers.get('retry-after') ?? '';
    const seconds = /^\d+(\.\d+)?$/.test(after) ? Number(after) : (Date.parse(after) - Date.now()) / 1000;
    await sleep(seconds >= 0 ? seconds * 1000 : 400 / left, undefined, { signal });
  }
}

async function followed(reply, emit) {
  const turn = { content: '', refusal: '', tool_calls: [], finish: undefined };
  for await (const data of events(reply.body)) {
    if (data === '[DONE]') break;
    const chunk = JSON.parse(data);
    if (chunk?.error) throw new Ended('stream', JSON.stringify(chunk.error));
    const choice = chunk?.choices?.find(({ index }) => !index);
    const delta = choice?.delta;
    if (delta?.content) {
      turn.content += delta.content;
      emit(delta.content);
    }
    turn.refusal += delta?.refusal ?? '';
    for (const { index, id, function: piece, ...more } of delta?.tool_calls ?? []) {
      let call = turn.tool_calls.findLast((one) => (index ?? one.index) === one.index && (!id || !one.id || id === one.id));
      if (!call) turn.tool_calls.push((call = { ...more, index, id, type: 'function', function: { name: '', arguments: '' } }));
      call.id ||= id;
      call.function.name ||= piece?.name ?? '';
      call.function.arguments += piece?.arguments ?? '';
    }
    turn.finish = choice?.finish_reason ?? turn.finish;
  }
  if (!turn.finish) throw new Ended('stream', 'the reply is not whole');
  return { ...turn, tool_calls: turn.tool_calls.map(({ index, ...call }) => call) };
}

async function whole(reply) {
  const choice = (await reply.json()).choices?.[0];
  if (!choice) throw new Ended('provider', 'no choice');
  return { ...choice.message, finish: choice.finish_reason };
}

async function outcome(functions, { function: { name, arguments: said } }, signal) {
  if (!Object.hasOwn(functions, name)) return `There is no tool ${name}; the tools are ${Object.keys(functions).join(', ')}.`;
  try {
    const input = JSON.parse(said?.trim() || '{}');
    if (input?.constructor !== Object && !(input && typeof input === 'object' && !Array.isArray(input))) return `Arguments are an object, not ${said}.`;
    const found = await functions[name](input, { signal });
    return typeof found === 'string' ? found : JSON.stringify(found);
  } catch (problem) {
    if (signal.aborted) throw problem;
    return `${name} gave an error. ${problem.name}: ${problem.message}`;
  }
}

async function talk(log, scenario, emit, signal) {
  const functions = handlers(scenario);
  for (let left = scenario.options.limit ?? 12; left > 0; left--) {
    const reply = await asked(scenario, { ...options(scenario), messages: log.messages }, signal);
    const turn = await (scenario.stream ? followed(reply, emit) : whole(reply));
    if (turn.finish === 'length') throw new Ended('truncated', 'the answer is cut');
    if (turn.finish === 'content_filter' || turn.refusal) throw new Ended('refusal', turn.refusal || 'filtered');
    if (!turn.tool_calls?.length) {
      log.add({ role: 'assistant', content: [part(turn.content ?? '')] });
      return turn.content ?? '';
    }
    const thoughts = turn.reasoning_content ? { reasoning_content: turn.reasoning_content } : {};
    log.add({ role: 'assistant', content: turn.content ? [part(turn.content)] : null, ...thoughts, tool_calls: turn.tool_calls });
    const results = turn.tool_calls.map((call) => outcome(functions, call, signal));
    for (const [at, call] of turn.tool_calls.entries()) log.answer(call.id, await results[at]);
  }
  throw new Ended('limit', 'the model goes on and on');
}

const logs = new Map();
const able = { stream: true, chunks: true, limit: true, concurrent: true, parallel: true, cancel: true, conversations: true };

serve({
  start: () => started({ name: 'chat with options', version: '1', wires: ['openai-chat'], ...able }),

  async run(scenario, emit, signal) {
    const log = logs.get(scenario.conversation) ?? new Log();
    if (scenario.conversation) logs.set(scenario.conversation, log);
    for (const message of scenario.messages) log.add({ role: message.role, content: [part(message.content)] });
    try {
      return value(await talk(log, scenario, emit, signal));
    } catch (problem) {
      return error(problem, { reason: problem.reason });
    } finally {
      log.close();
    }
  },
});
