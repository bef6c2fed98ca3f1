// The driver of chat_loop.mjs on the package. An argument names what it does otherwise: it ignores the signal, or it
// throws what a cancelled loop has thrown.

import { error, handlers, serve, started, value } from '../../../drivers/javascript/looptck-driver.mjs';
import { runLoop } from './chat_loop.mjs';

const WAY = process.argv[2] ?? '';
const sessions = new Map();

async function answer(scenario, emit, signal) {
  const { base_url: baseURL, api_key: apiKey, model, conversation, options } = scenario;
  const functions = handlers(scenario);
  const tools = scenario.tools.map((tool) => ({ ...tool, execute: functions[tool.name] }));
  const messages = [...(sessions.get(conversation) ?? []), ...scenario.messages];
  const chosen = { maxTurns: options.limit, onText: scenario.stream ? emit : undefined, signal };
  const text = await runLoop({ baseURL, apiKey, model, messages, tools }, chosen);
  if (conversation) sessions.set(conversation, messages);
  return text;
}

serve({
  start() {
    console.log('a line that somebody prints');
    const able = { stream: true, chunks: true, limit: true, concurrent: true, conversations: true, cancel: true };
    return started({ name: 'chat loop', version: '1', wires: ['openai-chat'], ...able });
  },
  async run(scenario, emit, signal) {
    try {
      return value(await answer(scenario, emit, WAY === 'ignores-the-signal' ? undefined : signal));
    } catch (exception) {
      if (WAY === 'throws-when-cancelled' && signal.aborted) throw exception;
      return error(exception, { reason: exception.reason, reasons: { TooManyTurns: 'limit' } });
    }
  },
});
