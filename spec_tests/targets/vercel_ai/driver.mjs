// The driver of the AI SDK: each case becomes one call of generateText or streamText, or with a variant of an agent.
// README.md says what is chosen here.

import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, jsonSchema, streamText, tool, ToolLoopAgent } from 'ai';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { written } from './schemas.mjs';

const VARIANT = process.env.LOOPTCK_VARIANT || '';
const STEPS = 20; // where a case sets no limit: as many as ToolLoopAgent has by itself
const VERSION = JSON.parse(readFileSync(new URL('node_modules/ai/package.json', import.meta.url))).version;
const STOPS = { stop: 'end', length: 'length', 'content-filter': 'content_filter', 'tool-calls': 'calls' };

// Standard output belongs to the protocol, and the SDK writes its warnings there.
console.log = console.info = console.debug = console.error;

const STARTED = {
  type: 'started',
  protocol: 1,
  name: VARIANT ? `vercel ai@${VARIANT}` : 'vercel ai',
  version: VERSION,
  language: 'javascript',
  wires: VARIANT === 'compatible' ? ['openai-chat'] : ['openai-chat', 'openai-responses', 'anthropic-messages'],
  modes: ['async'],
  profiles: [],
  capabilities: {
    stream: true,
    chunks: true,
    limit: true,
    concurrent: true,
    parallel: true,
    eager: true, // streamText runs a call as soon as its part of the stream is whole
  },
  dialect: { limit_counts: 'model-calls' },
};

const send = (message) => process.stdout.write(JSON.stringify(message) + '\n');

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === 'start') send(STARTED);
  if (message.type === 'run') run(message);
  if (message.type === 'stop') process.exit(0);
}

async function run({ id, case: scenario }) {
  const emit = (text) => send({ type: 'chunk', id, text });
  const outcome = await answer(scenario, emit).catch(failed);
  send({ type: 'finished', id, outcome });
}

async function answer(scenario, emit) {
  let told;
  const { ask, stream } = loop(scenario, ({ error }) => (told = error));
  if (!scenario.stream) return answered(await ask());
  const result = await stream();
  let streamed = '';
  for await (const text of result.textStream) {
    streamed += text;
    emit(text);
  }
  if (VARIANT === 'text-stream') return { kind: 'value', text: streamed };
  if (told !== undefined) throw told;
  return answered({ text: await result.text, finishReason: await result.finishReason });
}

// The two ways to run a case, plain and streamed. Errors of streams go to the console, or with a variant to a callback.
function loop(scenario, onError) {
  const system = scenario.messages.filter(({ role }) => role === 'system');
  const said = scenario.messages.filter(({ role }) => role !== 'system');
  const prompt = said.length === 1 ? { prompt: said[0].content } : { messages: said };
  const options = { model: model(scenario), tools: tools(scenario), ...providerOptions(scenario) };
  if (system.length) options.instructions = system.map(({ content }) => content).join('\n\n');
  if (VARIANT !== 'agent' || 'limit' in scenario.options) options.stopWhen = isStepCount(scenario.options.limit ?? STEPS);
  const heard = VARIANT === 'on-error' ? { onError } : {};
  if (VARIANT === 'agent') {
    const agent = new ToolLoopAgent(options);
    return { ask: () => agent.generate(prompt), stream: () => agent.stream(prompt) };
  }
  return { ask: () => generateText({ ...options, ...prompt }), stream: () => streamText({ ...options, ...prompt, ...heard }) };
}

function model(scenario) {
  const place = { baseURL: scenario.base_url, apiKey: scenario.api_key };
  if (scenario.wire === 'anthropic-messages') return createAnthropic(place)(scenario.model);
  if (scenario.wire === 'openai-responses') return createOpenAI(place)(scenario.model);
  if (VARIANT === 'compatible') return createOpenAICompatible({ name: 'looptck', ...place })(scenario.model);
  return createOpenAI(place).chat(scenario.model);
}

function providerOptions(scenario) {
  const keepsNothing = VARIANT === 'not-stored' && scenario.wire === 'openai-responses';
  return keepsNothing ? { providerOptions: { openai: { store: false } } } : {};
}

// A tool without a URL has no `execute`: its calls end the run and are the caller's.
function tools(scenario) {
  return Object.fromEntries(
    scenario.tools.map(({ name, description, parameters, url }) => {
      const about = { description, inputSchema: inputSchema(parameters) };
      return [name, tool(url ? { ...about, execute: (input) => askTheKit(url, input) } : about)];
    }),
  );
}

// As a user writes it, in zod, which checks what the model calls the tool with; what zod does not say here as it comes.
function inputSchema(parameters) {
  return (VARIANT !== 'json-schema' && written(parameters)) || jsonSchema(parameters);
}

async function askTheKit(url, input) {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify({ arguments: input }) });
  const { value, error } = await response.json();
  if (error) throw Object.assign(new Error(error.message), { name: error.type });
  return value;
}

// One prints the text; with a variant one also reads why the model stopped.
function answered({ text, finishReason }) {
  const stop = VARIANT === 'finish-reason' ? STOPS[finishReason] : undefined;
  return { kind: 'value', text, ...(stop && { stop }) };
}

function failed(error) {
  const names = [error, error?.cause, error?.lastError].map((one) => one?.name);
  const provider = names.some((name) => name === 'AI_APICallError' || name === 'AI_RetryError');
  return {
    kind: 'error',
    reason: provider ? 'provider' : 'other',
    type: String(error?.name ?? typeof error),
    message: String(error?.message ?? error),
  };
}
