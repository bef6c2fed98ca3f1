// The driver of the AI SDK: each case becomes one call of generateText or streamText, or with a variant of an agent.
// README.md says what is chosen here.

import { error, handlers, serve, started, suspended, value } from './looptck-driver.mjs';

import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, jsonSchema, Output, streamText, tool, ToolLoopAgent } from 'ai';
import { readFileSync } from 'node:fs';
import { written } from './looptck-zod.mjs';

const VARIANT = process.env.LOOPTCK_VARIANT || '';
const STEPS = 20; // where a case sets no limit: as many as ToolLoopAgent has by itself
const VERSION = JSON.parse(readFileSync(new URL('node_modules/ai/package.json', import.meta.url))).version;
const PROVIDER = ['AI_APICallError', 'AI_RetryError'];
const REASONS = Object.fromEntries(PROVIDER.map((name) => [name, 'provider']));
const talks = new Map();
const STOPS = { stop: 'end', length: 'length', 'content-filter': 'content_filter', 'tool-calls': 'calls' };

serve({
  start: () =>
    started({
      name: VARIANT ? `vercel ai@${VARIANT}` : 'vercel ai',
      version: VERSION,
      wires: VARIANT === 'compatible' ? ['openai-chat'] : ['openai-chat', 'openai-responses', 'anthropic-messages'],
      stream: true,
      chunks: true,
      limit: true,
      concurrent: true,
      parallel: true,
      eager: true, // streamText runs a call as soon as its part of the stream is whole
      cancel: true,
      conversations: true,
      histories: true,
      suspend: true,
      travels: true,
      output: VARIANT !== 'text-stream', // nobody reads an object from the pieces of a text
      events: true,
      dialect: { limit_counts: 'model-calls' },
    }),
  // A tool of a cancelled run may end after the run, and its callback is called all the same.
  run(scenario, emit, signal) {
    let isOver = false;
    const tell = (told) => isOver || emit(told);
    return answer(scenario, tell, signal)
      .catch(failed)
      .finally(() => (isOver = true));
  },
});

async function answer(scenario, emit, signal) {
  let told;
  const talk = talkOf(scenario);
  const { ask, stream } = loop(scenario, talk, signal, { ...telling(emit), onError: ({ error }) => (told = error) });
  const wanted = 'output_schema' in scenario;
  if (!scenario.stream) return answered(talk, await ask(), wanted);
  const result = await stream();
  let streamed = '';
  for await (const text of result.textStream) {
    streamed += text;
    emit(text);
  }
  if (VARIANT === 'text-stream') return value(streamed);
  if (told !== undefined) throw told;
  const [text, finishReason] = [await result.text, await result.finishReason]; // one by one: each rejects by itself
  const [content, responseMessages] = [await result.content, await result.responseMessages];
  const output = wanted ? await result.output : undefined;
  return answered(talk, { text, finishReason, content, responseMessages, output }, wanted);
}

// The callbacks that tell the caller of the run of its tools.
function telling(emit) {
  return {
    onToolExecutionStart: ({ toolCall: { toolCallId, toolName, input } }) =>
      emit({ kind: 'call', call_id: toolCallId, name: toolName, arguments: input }),
    onToolExecutionEnd({ toolCall: { toolCallId }, toolOutput: { type, output, error } }) {
      const result = type === 'tool-error' ? { result: String(error), failed: true } : { result: output };
      emit({ kind: 'result', call_id: toolCallId, ...result });
    },
  };
}

// What is said, as an application keeps it: instructions, and the list that it adds questions and answers to.
function talkOf({ conversation, resume, messages }) {
  const talk = resume?.state ?? talks.get(conversation) ?? { messages: [] };
  if (conversation) talks.set(conversation, talk);
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  if (system.length) talk.instructions = system.join('\n\n');
  talk.messages.push(...messages.filter(({ role }) => role !== 'system').flatMap((one) => said(one, messages)));
  if (resume) talk.messages.push({ role: 'tool', content: resume.decisions.map(decided) });
  return talk;
}

function said({ role, content, calls, call_id: toolCallId }, messages) {
  if (role === 'tool') {
    const { name: toolName } = messages.flatMap((one) => one.calls ?? []).find(({ id }) => id === toolCallId);
    const output = { type: 'text', value: content };
    return { role, content: [{ type: 'tool-result', toolCallId, toolName, output }] };
  }
  if (!calls) return { role, content };
  const call = ({ id, name, arguments: input }) => ({ type: 'tool-call', toolCallId: id, toolName: name, input });
  return { role, content: [...(content ? [{ type: 'text', text: content }] : []), ...calls.map(call)] };
}

function decided({ id: approvalId, decision, feedback }) {
  const approved = decision === 'approve';
  return { type: 'tool-approval-response', approvalId, approved, ...(feedback && { reason: feedback }) };
}

// The two ways to run a case, plain and streamed. Errors of streams go to the console, or with a variant to a callback.
function loop(scenario, { instructions, messages }, abortSignal, { onError, ...telling }) {
  const isQuestion = messages.length === 1 && scenario.conversation === undefined;
  const prompt = isQuestion ? { prompt: messages[0].content } : { messages };
  const offered = { tools: tools(scenario), ...approval(scenario) };
  const options = { model: model(scenario), ...offered, ...providerOptions(scenario), ...telling, ...outputOf(scenario) };
  if (instructions) options.instructions = instructions;
  if (VARIANT !== 'agent' || 'limit' in scenario.options) options.stopWhen = isStepCount(scenario.options.limit ?? STEPS);
  const heard = VARIANT === 'on-error' ? { onError } : {};
  if (VARIANT === 'agent') {
    const agent = new ToolLoopAgent(options);
    const asked = { ...prompt, abortSignal };
    return { ask: () => agent.generate(asked), stream: () => agent.stream(asked) };
  }
  const all = { ...options, ...prompt, abortSignal };
  return { ask: () => generateText(all), stream: () => streamText({ ...all, ...heard }) };
}

// The schema of a list is one of its elements, with what it is defined by.
function outputOf({ output_schema: schema }) {
  if (!schema) return {};
  if (schema.type === 'array') {
    const { items, $defs } = schema;
    return { output: Output.array({ element: inputSchema($defs ? { ...items, $defs } : items) }) };
  }
  return { output: Output.object({ schema: inputSchema(schema) }) };
}

function approval({ tools }) {
  const waiting = tools.filter((one) => one.approval).map(({ name }) => [name, 'user-approval']);
  return waiting.length ? { toolApproval: Object.fromEntries(waiting) } : {};
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
  const functions = handlers(scenario);
  return Object.fromEntries(
    scenario.tools.map(({ name, description, parameters }) => {
      const about = { description, inputSchema: inputSchema(parameters) };
      return [name, tool(functions[name] ? { ...about, execute: (input) => functions[name](input) } : about)];
    }),
  );
}

// As a user writes it, in zod, which checks what the model calls the tool with; what zod does not say here as it comes.
function inputSchema(parameters) {
  return (VARIANT !== 'json-schema' && written(parameters)) || jsonSchema(parameters);
}

// One prints the text; with a variant one also reads why the model stopped. A call that needs approval ends the run.
function answered(talk, result, wanted) {
  const { text, finishReason, content, responseMessages } = result;
  talk.messages.push(...responseMessages);
  const requests = content.filter(({ type, isAutomatic }) => type === 'tool-approval-request' && !isAutomatic);
  if (!requests.length && wanted) return value(null, { output: result.output });
  if (!requests.length) return value(text, { stop: VARIANT === 'finish-reason' ? STOPS[finishReason] : undefined });
  const call = ({ approvalId: id, toolCall }) => ({ id, name: toolCall.toolName, arguments: toolCall.input });
  return suspended(talk, requests.map(call));
}

function failed(exception) {
  const isProvider = PROVIDER.includes(exception?.name) || PROVIDER.includes(exception?.lastError?.name);
  return error(exception, { reason: isProvider ? 'provider' : undefined, reasons: REASONS });
}
