// The driver of OpenAI's SDK for JavaScript: each case becomes one call of runTools, or with a variant a run of
// ResponsesToolRunner. README.md says what is chosen here.

import { error, handlers, serve, started, value } from './looptck-driver.mjs';
import { readFileSync } from 'node:fs';
import OpenAI from 'openai';
import { ResponsesToolRunner, runnerFunction } from 'openai/helpers/responses-tool-runner';
import { zodFunction, zodResponsesFunction } from 'openai/helpers/zod';
import { written } from './looptck-zod.mjs';

const VARIANT = process.env.LOOPTCK_VARIANT || '';
const VERSION = JSON.parse(readFileSync(new URL('node_modules/openai/package.json', import.meta.url))).version;

const histories = new Map(); // the messages of each conversation, as its last runner has left them

const LOOP = { stream: true, chunks: true, limit: true, concurrent: true, parallel: true, cancel: true, histories: true };

serve({
  start: () =>
    started({
      name: VARIANT ? `openai.js@${VARIANT}` : 'openai.js',
      version: VERSION,
      wires: [VARIANT === 'responses' ? 'openai-responses' : 'openai-chat'],
      dialect: { limit_counts: 'model-calls' },
      ...(VARIANT === 'responses' ? { ...LOOP, parallel: false } : { ...LOOP, conversations: true, leave: true }),
    }),
  async run(scenario, emit, signal) {
    const client = new OpenAI({ baseURL: scenario.base_url, apiKey: scenario.api_key });
    const ask = VARIANT === 'responses' ? askResponses : askChat;
    try {
      return await ask(client, scenario, emit, signal);
    } catch (exception) {
      return error(exception);
    }
  },
});

async function askChat(client, scenario, emit, signal) {
  const { model, stream, conversation } = scenario;
  const functions = handlers(scenario);
  const messages = [...(histories.get(conversation) ?? []), ...scenario.messages.map(chatMessage)];
  const tools = scenario.tools.filter(({ url }) => url).map((tool) => chatTool(tool, functions[tool.name]));
  const limit = 'limit' in scenario.options ? { maxChatCompletions: scenario.options.limit } : {};
  const runner = client.chat.completions.runTools({ model, messages, tools, stream }, { signal, ...limit });
  let heard = 0;
  if (stream) {
    runner.on('content', (text) => {
      emit(text);
      if (++heard === scenario.options.leave_after) runner.abort();
    });
  }
  try {
    return value(await runner.finalContent());
  } finally {
    if (conversation) histories.set(conversation, runner.messages);
  }
}

function chatMessage({ role, content, calls, call_id: id }) {
  if (role === 'tool') return { role, content, tool_call_id: id };
  const called = calls?.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }));
  return called ? { role, content, tool_calls: called } : { role, content };
}

// A strict tool with its schema in zod; where zod or strictness does not allow the schema, a plain function.
function chatTool({ name, description, parameters }, call) {
  const schema = strict(parameters, zodFunction);
  if (schema) return zodFunction({ name, description, parameters: schema, function: call });
  return { type: 'function', function: { name, description, parameters, parse: JSON.parse, function: call } };
}

// The schema in zod, if the helper takes it: a strict tool can have no optional parameters.
function strict(parameters, helper) {
  const schema = written(parameters);
  try {
    return schema && helper({ name: 'tried', parameters: schema }) && schema;
  } catch {
    return undefined;
  }
}

async function askResponses(client, { model, messages, tools, stream, options: { limit } }, emit, signal) {
  const functions = handlers({ tools });
  const runner = new ResponsesToolRunner({
    functions: tools.filter(({ url }) => url).map((tool) => responsesTool(tool, functions[tool.name])),
  });
  const onEvent = ({ type, delta }) => type === 'response.output_text.delta' && emit(delta);
  const options = { signal, ...(limit !== undefined && { maxSteps: limit }), ...(stream && { stream, onEvent }) };
  const response = await runner.run(client, { model, input: messages.flatMap(inputItems) }, options);
  return value(response.output_text);
}

function inputItems({ role, content, calls = [], call_id: id }) {
  if (role === 'tool') return [{ type: 'function_call_output', call_id: id, output: content }];
  const called = calls.map((call) => ({
    type: 'function_call',
    call_id: call.id,
    name: call.name,
    arguments: JSON.stringify(call.arguments),
  }));
  return content || !calls.length ? [{ role, content }, ...called] : called;
}

// The runner takes texts from functions, and its users write JSON for all else.
function responsesTool({ name, description, parameters }, call) {
  const run = async (values) => {
    const result = await call(values);
    return typeof result === 'string' ? result : JSON.stringify(result);
  };
  const schema = strict(parameters, zodResponsesFunction);
  if (schema) return runnerFunction(zodResponsesFunction({ name, description, parameters: schema, function: run }));
  return { tool: { type: 'function', name, description, parameters, strict: false }, execute: run };
}
