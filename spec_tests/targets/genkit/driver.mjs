// The driver of Genkit: each case becomes one call of ai.generate or ai.generateStream. README.md says what is chosen here.

import { error, handlers, serve, started, suspended, value } from './looptck-driver.mjs';
import { openAI } from '@genkit-ai/compat-oai/openai';
import { genkit } from 'genkit/beta';
import { readFileSync } from 'node:fs';
import { written } from './looptck-zod.mjs';

const PACKAGE = new URL('node_modules/genkit/package.json', import.meta.url);

const histories = new Map(); // the messages of the last response of each conversation
const shared = new Map(); // the instances that serve several runs

serve({
  start: () =>
    started({
      name: 'genkit',
      version: JSON.parse(readFileSync(PACKAGE)).version,
      wires: ['openai-chat'],
      dialect: { limit_counts: 'tool-rounds' },
      stream: true,
      chunks: true,
      limit: true,
      concurrent: true,
      parallel: true,
      conversations: true,
      histories: true,
      shared: true,
      cancel: true,
      leave: true,
      suspend: true,
      travels: true,
    }),
  async run(scenario, emit, signal) {
    try {
      return await answer(scenario, emit, signal);
    } catch (exception) {
      return error(exception, signal.aborted ? { reason: 'cancelled' } : { reasons: { GenkitError: reasonOf } });
    }
  },
});

const ELSEWHERE = new Set(['ABORTED', 'NOT_FOUND', 'INVALID_ARGUMENT', 'FAILED_PRECONDITION']);

// An error of a service has a status too, and nothing else says that it is one.
function reasonOf({ message, status }) {
  if (message.includes('maximum tool call iterations')) return 'limit';
  return ELSEWHERE.has(status) ? 'other' : 'provider';
}

async function answer(scenario, emit, signal) {
  const instance = shared.get(scenario.shared) ?? instanceOf(scenario);
  if (scenario.shared) shared.set(scenario.shared, instance);
  const request = { ...asked(scenario, instance), abortSignal: signal };
  const response = await (scenario.stream ? streamed(instance.ai, request, scenario, emit) : instance.ai.generate(request));
  if (!response) return error(new Error('the caller has left'), { reason: 'cancelled' });
  if (scenario.conversation) histories.set(scenario.conversation, response.messages);
  if (!response.interrupts.length) return value(response.text);
  const calls = response.interrupts.map(({ toolRequest: { ref, name, input } }) => ({ id: ref, name, arguments: input }));
  return suspended({ messages: response.messages, interrupts: response.interrupts }, calls);
}

async function streamed(ai, request, scenario, emit) {
  const { stream, response } = ai.generateStream(request);
  let heard = 0;
  for await (const { text } of stream) {
    if (!text) continue;
    emit(text);
    if (++heard === scenario.options.leave_after) return undefined;
  }
  return response;
}

function instanceOf(scenario) {
  const ai = genkit({ plugins: [openAI({ apiKey: scenario.api_key, baseURL: scenario.base_url })] });
  const functions = handlers(scenario);
  const tools = scenario.tools.filter(({ url }) => url).map((tool) => toolOf(ai, tool, functions[tool.name]));
  return { ai, tools };
}

// The schema as a user writes it, in zod; what zod does not say here as it comes. A call that needs approval interrupts
// the run unless the call was restarted.
function toolOf(ai, { name, description, parameters, approval }, call) {
  const schema = written(parameters);
  const about = { name, description, ...(schema ? { inputSchema: schema } : { inputJsonSchema: parameters }) };
  return ai.defineTool(about, (input, { interrupt, resumed }) => (approval && !resumed ? interrupt() : call(input)));
}

function asked({ messages, model, conversation, resume, options }, { tools }) {
  const system = messages.filter(({ role }) => role === 'system');
  const others = messages.filter(({ role }) => role !== 'system');
  const before = resume?.state.messages ?? histories.get(conversation) ?? [];
  const request = { model: openAI.model(model), tools };
  if (options.limit !== undefined) request.maxTurns = options.limit;
  if (system.length) request.system = system.map(({ content }) => content).join('\n\n');
  if (resume) return { ...request, messages: before, resume: decided(resume, tools) };
  const names = new Map(others.flatMap(({ calls = [] }) => calls.map(({ id, name }) => [id, name])));
  const earlier = others.slice(0, -1).map((message) => genkitMessage(message, names));
  if (before.length || earlier.length) request.messages = [...before, ...earlier];
  return { ...request, prompt: others.at(-1).content };
}

function genkitMessage({ role, content, calls = [], call_id: ref }, names) {
  if (role === 'tool') return { role, content: [{ toolResponse: { ref, name: names.get(ref), output: content } }] };
  const called = calls.map(({ id, name, arguments: input }) => ({ toolRequest: { ref: id, name, input } }));
  return { role: role === 'assistant' ? 'model' : role, content: [...(content ? [{ text: content }] : []), ...called] };
}

function decided({ state, decisions }, tools) {
  const restart = [];
  const respond = [];
  for (const interrupt of state.interrupts) {
    const { name, ref, input } = interrupt.toolRequest;
    const tool = tools.find((one) => one.__action.name === name);
    const { decision, feedback, parameters } = decisions.find(({ id }) => id === ref);
    if (decision === 'reject') respond.push(tool.respond(interrupt, feedback ?? 'The user has rejected this call.'));
    if (decision === 'approve') restart.push(tool.restart(interrupt));
    if (decision === 'change') restart.push(tool.restart(interrupt, undefined, { replaceInput: { ...input, ...parameters } }));
  }
  return { restart, respond };
}
