// A right loop on Messages with plain replies: an object literal of steps, which a fault replaces by its own.

import { LoopError } from '../javascript/driver.mjs';
import { Service, named, runCall, shown } from './service.mjs';

const CUT = ['max_tokens', 'model_context_window_exceeded'];
const PAUSED = ['pause_turn', 'compaction'];

export const steps = {
  tools: (given) => named(given.tools),
  service: (given) =>
    new Service(given, 'messages', { 'x-api-key': given.api_key, 'anthropic-version': '2023-06-01' }),
  schema: (tool) => ({ type: 'object', ...tool.parameters }),
  system: (given) =>
    given.messages.filter(({ role }) => role === 'system').map(({ content }) => content).join('\n\n'),
  prompt: (history) => history,
  said: (history, message) => history.push(message),
  answer: (content) => content.filter(({ type }) => type === 'text').map(({ text }) => text).join(''),
  execute: (run, { name, input }) => runCall(run.tools.get(name), name, input, shown),

  offers(run) {
    const own = [...run.tools].map(([name, tool]) => ({
      name,
      description: tool.description,
      input_schema: this.schema(tool, run),
      ...(tool.strict && { strict: true }),
    }));
    const searches = (run.given.hosted_tools ?? []).map(({ tool }) => tool ?? { type: 'web_search_20250305', name: 'web_search' });
    return [...own, ...searches];
  },

  body(run) {
    const system = this.system(run.given);
    const tools = this.offers(run);
    return {
      model: run.given.model,
      max_tokens: 4096,
      ...(system && { system }),
      ...(tools.length && { tools }),
      ...(run.container && { container: run.container }),
      messages: this.prompt(run.history),
    };
  },

  async result(run, call) {
    const { text, failed } = await this.execute(run, call);
    return {
      type: 'tool_result',
      tool_use_id: call.id,
      ...(call.toolset_name && { toolset_name: call.toolset_name }),
      ...(text && { content: text }),
      ...(failed && { is_error: true }),
    };
  },
};

/** Talk until the model stops for good. */
export async function talk(how, given) {
  const run = {
    given,
    tools: how.tools(given),
    history: given.messages.filter(({ role }) => role !== 'system'),
    container: undefined,
    ran: [],
  };
  const service = how.service(given);
  for (let left = given.options.limit ?? 10; left > 0; left--) {
    const reply = await service.json(how.body(run));
    const { content, stop_reason: stop } = reply ?? {};
    if (!Array.isArray(content))
      throw new LoopError('provider', JSON.stringify(reply?.error ?? 'a reply without content'));
    run.container = reply.container?.id ?? run.container;
    if (CUT.includes(stop)) throw new LoopError('truncated', `the turn was cut: ${stop}`);
    if (stop === 'refusal') throw new LoopError('refusal', reply.stop_details?.explanation ?? 'the model refused');
    const calls = content.filter(({ type }) => type === 'tool_use');
    if (!PAUSED.includes(stop) && (stop !== 'tool_use' || !calls.length)) return how.answer(content);
    const kept = content.filter(({ type, text }) => type !== 'text' || text.trim());
    if (kept.length) how.said(run.history, { role: 'assistant', content: kept });
    if (PAUSED.includes(stop)) continue;
    const results = [];
    for (const call of calls) results.push(await how.result(run, call));
    how.said(run.history, { role: 'user', content: results });
  }
  throw new LoopError('limit', 'the limit of model calls is reached');
}
