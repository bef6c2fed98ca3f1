// Fault: a tool that returns undefined leads to a tool message without `content`, because JSON omits undefined.
// Rule: `content` of a tool message is required.
// Written in: OpenAI API reference, Chat Completions, Tool message, content.
// Reported like it: vercel/ai#7650, langchain-ai/langchainjs#8140, latitude-dev/latitude-llm#810.

import { LoopError, serve } from './driver.mjs';

class Agent {
  #url;
  #headers;
  #model;
  #limit;
  #tools = new Map();
  #history = [];

  constructor({ base_url, api_key, model, messages, tools, options }) {
    this.#url = `${base_url}/chat/completions`;
    this.#headers = { 'content-type': 'application/json', authorization: `Bearer ${api_key}` };
    this.#model = model;
    this.#limit = options.limit ?? 25;
    for (const tool of tools) this.#tools.set(tool.name, tool);
    this.#history.push(...messages);
  }

  get #body() {
    const tools = [...this.#tools.values()].map(({ name, description, parameters, strict }) => ({
      type: 'function',
      function: { name, description, parameters, ...(strict && { strict }) },
    }));
    return JSON.stringify({ model: this.#model, messages: this.#history, tools: tools.length ? tools : undefined });
  }

  async #ask() {
    const reply = await fetch(this.#url, { method: 'POST', headers: this.#headers, body: this.#body });
    if (!reply.ok) throw new LoopError('provider', `HTTP ${reply.status}: ${await reply.text()}`);
    const { choices, error } = await reply.json();
    if (!choices?.[0]?.message) throw new LoopError('provider', error?.message ?? 'a reply without choices');
    return choices[0];
  }

  async #call({ function: fn, custom }) {
    const tool = this.#tools.get(fn?.name);
    if (!tool?.execute) return `Error: there is no tool named ${fn?.name ?? custom?.name}`;
    try {
      const args = fn.arguments.trim() ? JSON.parse(fn.arguments) : {};
      if (args === null || typeof args !== 'object' || Array.isArray(args)) return 'Error: arguments have to be an object';
      const value = (await tool.execute(args)) ?? undefined;
      return typeof value === 'string' ? value : JSON.stringify(value); // the fault: undefined for undefined
    } catch (error) {
      return `Error: ${error.name}: ${error.message}`;
    }
  }

  async run() {
    while (this.#limit-- > 0) {
      const { message, finish_reason: finish } = await this.#ask();
      if (message.refusal) throw new LoopError('refusal', message.refusal);
      if (finish === 'length' || finish === 'content_filter') throw new LoopError('truncated', `cut: ${finish}`);
      if (!message.tool_calls?.length) return message.content ?? '';
      for (const call of message.tool_calls) {
        call.id ||= `call_${crypto.randomUUID()}`;
        const fn = call.function;
        if (fn && typeof fn.arguments !== 'string') fn.arguments = JSON.stringify(fn.arguments ?? {});
      }
      this.#history.push({ ...message, role: 'assistant' });
      for (const call of message.tool_calls)
        this.#history.push({ role: 'tool', tool_call_id: call.id, content: await this.#call(call) });
    }
    throw new LoopError('limit', 'the iteration limit was reached');
  }
}

const capabilities = { limit: true, concurrent: true };
serve({ started: { name: 'chat-nullish-result', wires: ['openai-chat'], capabilities }, run: (given) => new Agent(given).run() });
