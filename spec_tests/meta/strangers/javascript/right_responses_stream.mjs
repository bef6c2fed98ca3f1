// No fault: a streaming Responses loop without state at the service, as the vendor documents it. A control for false alarms.
// Rules kept: OpenAI API reference, Responses (create, streaming events); guides Function calling and Reasoning.

import { LoopError, serve } from './driver.mjs';

class ServerSentEvents extends TransformStream {
  constructor() {
    let rest = '';
    let data = [];
    super({
      transform(text, controller) {
        rest += text;
        const half = rest.endsWith('\r') ? '\r' : ''; // may be the first half of a CRLF
        const lines = (half ? rest.slice(0, -1) : rest).split(/\r\n|\n|\r/);
        rest = lines.pop() + half;
        for (const line of lines) {
          if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
          if (line !== '' || !data.length) continue;
          const whole = data.join('\n');
          data = [];
          if (whole !== '[DONE]') controller.enqueue(JSON.parse(whole));
        }
      },
    });
  }
}

const problem = (error) => new LoopError('provider', error?.message ?? JSON.stringify(error ?? 'failed'));

async function readStream(body, emit) {
  const items = []; // by output_index
  const part = (event) => {
    const content = ((items[event.output_index] ??= { type: 'message', role: 'assistant' }).content ??= []);
    return (content[event.content_index] ??= { type: event.type.includes('refusal') ? 'refusal' : 'output_text' });
  };
  for await (const event of body.pipeThrough(new TextDecoderStream()).pipeThrough(new ServerSentEvents())) {
    switch (event.type) {
      case 'response.output_item.added':
      case 'response.output_item.done':
        items[event.output_index] = event.item;
        break;
      case 'response.output_text.delta':
        part(event).text = (part(event).text ?? '') + event.delta;
        if (event.delta) emit(event.delta);
        break;
      case 'response.refusal.delta':
        part(event).refusal = (part(event).refusal ?? '') + event.delta;
        break;
      case 'response.function_call_arguments.delta':
        if (items[event.output_index]) items[event.output_index].arguments = (items[event.output_index].arguments ?? '') + event.delta;
        break;
      case 'response.function_call_arguments.done':
        if (items[event.output_index]) items[event.output_index].arguments = event.arguments;
        break;
      case 'error':
        throw problem(event.error ?? event);
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed': {
        const streamed = items.filter(Boolean);
        return { ...event.response, output: event.response.output?.length ? event.response.output : streamed };
      }
    }
  }
  throw new LoopError('stream', 'the stream ended before the response did');
}

async function ask(given, input, emit) {
  const body = { model: given.model, input, store: false, include: ['reasoning.encrypted_content'] };
  if (given.stream) body.stream = true;
  if (given.tools.length)
    body.tools = given.tools.map(({ name, description, parameters, strict }) => ({
      type: 'function',
      name,
      description,
      parameters,
      strict: strict ?? false, // absent would mean true
    }));
  const reply = await fetch(`${given.base_url}/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${given.api_key}` },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
  return given.stream ? readStream(reply.body, emit) : reply.json();
}

async function runCall(tools, item) {
  const tool = item.type === 'function_call' ? tools.find((one) => one.name === item.name) : undefined;
  if (!tool?.execute) return `Error: there is no tool named ${item.name}`;
  try {
    const args = item.arguments?.trim() ? JSON.parse(item.arguments) : {};
    if (args === null || typeof args !== 'object' || Array.isArray(args))
      return 'Error: the arguments have to be a JSON object';
    const value = await tool.execute(args);
    return typeof value === 'string' ? value : JSON.stringify(value ?? null);
  } catch (error) {
    return `Error: ${error.name}: ${error.message}`;
  }
}

const ANSWERED = { function_call: 'function_call_output', custom_tool_call: 'custom_tool_call_output' };

async function run(given, emit) {
  const input = given.messages.map(({ role, content }) => ({ role, content }));
  for (let left = given.options.limit ?? 25; left > 0; left--) {
    const { status, error, incomplete_details, output } = await ask(given, input, emit);
    if (status === 'incomplete') throw new LoopError('truncated', `the reply was cut: ${incomplete_details?.reason}`);
    if (status !== 'completed' || !output) throw problem(error ?? `the response is ${status}`);
    const calls = output.filter((item) => Object.hasOwn(ANSWERED, item.type));
    if (!calls.length) {
      const parts = output.filter((item) => item.type === 'message').flatMap((item) => item.content ?? []);
      const refused = parts.find((one) => one.type === 'refusal');
      if (refused) throw new LoopError('refusal', refused.refusal || 'the model refused');
      return parts.filter((one) => one.type === 'output_text').map((one) => one.text ?? '').join('');
    }
    input.push(...output); // all items in order, reasoning with its encrypted content too
    for (const item of calls)
      input.push({ type: ANSWERED[item.type], call_id: item.call_id, output: await runCall(given.tools, item) });
  }
  throw new LoopError('limit', 'the iteration limit was reached');
}

serve({
  started: {
    name: 'right-responses-stream',
    wires: ['openai-responses'],
    capabilities: { stream: true, chunks: true, limit: true, concurrent: true },
  },
  run,
});
