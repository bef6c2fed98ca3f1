// node team.mjs [FAULT]: a right loop on Messages, plain and streamed, with several agents, or one with a fault.
// Handoffs are notes on a blackboard that the loop looks at after each round; agents as tools run at the same time.

import { error, handlers, serve, started, value } from '../../../../drivers/javascript/looptck-driver.mjs';
import { dataOf } from '../themes/service.mjs';

const LIMIT = 30;
const text = (content) => content.filter(({ type }) => type === 'text').map((block) => block.text).join('');

class Team {
  constructor(given, emit, signal) {
    this.given = given;
    this.emit = emit;
    this.signal = signal;
    this.members = new Map(given.agents.map((one) => [one.name, one]));
    this.tools = new Map(given.tools.map((one) => [one.name, one]));
    this.functions = handlers(given);
    this.left = given.options.limit ?? LIMIT;
    this.active = given.agents[0].name;
  }

  // -- what is offered

  offers(name) {
    const { tools, handoffs, subagents } = this.members.get(name);
    const own = tools.map((tool) => this.tools.get(tool));
    return [...own, ...handoffs.map((one) => this.transfer(one)), ...subagents.map((one) => this.delegate(one))].map(
      ({ name, description, parameters }) => ({ name, description, input_schema: { type: 'object', ...parameters } }),
    );
  }

  transfer(target) {
    const parameters = { properties: { reason: { type: 'string' } }, required: ['reason'] };
    return { name: `handoff_to_${target}`, description: `Hand over to ${target}.`, parameters };
  }

  delegate(target) {
    const { description } = this.members.get(target);
    return { name: `agent-${target}`, description, parameters: { properties: { prompt: { type: 'string' } }, required: ['prompt'] } };
  }

  // -- what is asked

  system(name) {
    return this.members.get(name).instructions;
  }

  signalOf() {
    return this.signal;
  }

  async ask(name, messages, inner) {
    if (this.left-- <= 0) throw Object.assign(new Error('the limit of model calls is reached'), { name: 'LimitError' });
    const { base_url, api_key, model, stream } = this.given;
    const body = { model, max_tokens: 999, system: this.system(name), tools: this.offers(name), messages, stream };
    const headers = { 'content-type': 'application/json', 'x-api-key': api_key, 'anthropic-version': '2023-06-01' };
    const reply = await fetch(`${base_url}/messages`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal: this.signalOf(inner),
    });
    if (!reply.ok) throw Object.assign(new Error(`HTTP ${reply.status}`), { name: 'ServiceError' });
    const whole = stream ? await this.read(reply.body, this.listener(inner)) : await reply.json();
    const content = whole.content.filter((block) => block.type !== 'text' || block.text);
    return Object.defineProperty(content, 'cut', { value: whole.stop_reason === 'max_tokens' });
  }

  listener(inner) {
    return inner ? () => {} : this.emit;
  }

  async read(body, emit) {
    const blocks = [];
    let stop_reason;
    for await (const data of dataOf(body)) {
      const event = JSON.parse(data);
      if (event.type === 'content_block_start') blocks[event.index] = { ...event.content_block, json: '' };
      if (event.type === 'message_delta') stop_reason = event.delta.stop_reason;
      if (event.type !== 'content_block_delta') continue;
      const { index, delta } = event;
      if (delta.type === 'input_json_delta') blocks[index].json += delta.partial_json;
      for (const part of ['text', 'thinking', 'signature'])
        if (delta.type === `${part}_delta`) blocks[index][part] = (blocks[index][part] ?? '') + delta[part];
      if (delta.type === 'text_delta') emit(delta.text);
    }
    const content = blocks.map(({ json, ...block }) =>
      block.type === 'tool_use' ? { ...block, input: JSON.parse(json || '{}') } : block,
    );
    return { content, stop_reason };
  }

  // -- the loop

  async talk(messages) {
    for (;;) {
      const speaker = this.active;
      const content = await this.ask(speaker, messages, false);
      if (content.length) messages.push({ role: 'assistant', content });
      const uses = content.filter(({ type }) => type === 'tool_use');
      if (!uses.length) return text(content);
      this.next = undefined;
      const results = await Promise.all(uses.map((use) => this.result(speaker, use)));
      this.append(messages, results);
      if (this.next) this.over(this.next);
    }
  }

  append(messages, results) {
    messages.push({ role: 'user', content: results });
  }

  over(target) {
    this.active = target;
  }

  async result(speaker, use) {
    const result = { type: 'tool_result', tool_use_id: use.id };
    try {
      return { ...result, content: await this.run(speaker, use) };
    } catch (exception) {
      if (this.signal.aborted || exception.name === 'LimitError') throw exception;
      return { ...result, content: this.failure(exception), is_error: true };
    }
  }

  failure({ name, message }) {
    return `${name}: ${message}`;
  }

  async run(speaker, { name, input }) {
    const [, kind, target] = /^(handoff_to_|agent-)(.*)$/.exec(name) ?? [];
    if (kind === 'agent-') return this.consult(target, input.prompt);
    if (kind) return this.noted(speaker, target);
    if (!this.members.get(speaker).tools.includes(name)) throw new Error(`there is no tool ${name}`);
    const got = await this.functions[name](input);
    return typeof got === 'string' ? got : JSON.stringify(got);
  }

  noted(speaker, target) {
    if (!this.members.get(speaker).handoffs.includes(target)) throw new Error(`there is no agent ${target}`);
    if (this.next) return `Not done: ${this.next} was asked first.`;
    this.next = target;
    return `The conversation goes to ${target}.`;
  }

  // -- agents as tools

  room() {
    return [];
  }

  async consult(name, prompt) {
    const messages = this.room(name);
    messages.push({ role: 'user', content: prompt });
    for (;;) {
      const content = await this.ask(name, messages, true);
      messages.push({ role: 'assistant', content });
      const uses = content.filter(({ type }) => type === 'tool_use');
      if (!uses.length) return text(content) + (content.cut ? ' [cut off by the token limit]' : '');
      messages.push({ role: 'user', content: await Promise.all(uses.map((use) => this.result(name, use))) });
    }
  }
}

const FAULTS = {
  // The handoff is an event of the program, and not a tool: nothing goes back for it.
  'handoff-unanswered': class extends Team {
    append(messages, results) {
      super.append(messages, this.next ? results.filter(({ content }) => !content.startsWith('The conversation')) : results);
    }
  },
  // Each result is a message of its own, so that only the first follows its turn.
  'results-apart': class extends Team {
    append(messages, results) {
      for (const one of results) messages.push({ role: 'user', content: [one] }, { role: 'assistant', content: 'Noted.' });
    }
  },
  // The new agent's instructions are appended once, to a system prompt that the next handoff does not take back.
  'system-is-kept': class extends Team {
    system(name) {
      return super.system(name === this.active ? this.given.agents[0].name : name);
    }
  },
  // The tools were bound when the loop was made.
  'tools-are-bound': class extends Team {
    offers(name) {
      return super.offers(name === this.active ? this.given.agents[0].name : name);
    }
  },
  // The new agent begins with an empty list of messages.
  'begins-empty': class extends Team {
    async ask(name, messages, inner) {
      const from = inner || name === this.given.agents[0].name ? 0 : messages.length;
      return super.ask(name, from ? [{ role: 'user', content: 'Take over.' }] : messages, inner);
    }
  },
  // All runs of sub-agents write into one list.
  'one-room': class extends Team {
    rooms = [];
    room() {
      return this.rooms;
    }
  },
  // What a sub-agent says is streamed to the user as if it were the answer.
  'streams-all': class extends Team {
    listener() {
      return this.emit;
    }
  },
  // The signal of the caller is not handed on to sub-agents.
  'signal-lost': class extends Team {
    signalOf(inner) {
      return inner ? undefined : super.signalOf(inner);
    }
    async consult(name, prompt) {
      const { signal } = this;
      this.signal = new AbortController().signal;
      try {
        return await super.consult(name, prompt);
      } finally {
        this.signal = signal;
      }
    }
  },
  // The limit begins anew with each agent.
  'counts-anew': class extends Team {
    over(target) {
      super.over(target);
      this.left = this.given.options.limit ?? LIMIT;
    }
  },
  // An error of a sub-agent has no text.
  'undefined-error': class extends Team {
    failure(exception) {
      return exception.name === 'ServiceError' ? '' : super.failure(exception);
    }
  },
  // Handing over to nobody makes nobody the agent.
  'nobody-speaks': class extends Team {
    noted(speaker, target) {
      if (this.members.has(target)) return super.noted(speaker, target);
      this.next = target;
      return 'Done.';
    }
    async talk(messages) {
      try {
        return await super.talk(messages);
      } catch (exception) {
        if (exception instanceof TypeError) return '';
        throw exception;
      }
    }
  },
};

const fault = process.argv[2];
const Kind = fault ? FAULTS[fault] : Team;
if (!Kind) throw new Error(`${fault} is none of ${Object.keys(FAULTS).join(', ')}`);

const threads = new Map();

serve({
  start: () =>
    started({
      name: `agents-${fault ?? 'right'}`,
      version: '1',
      wires: ['anthropic-messages'],
      stream: true,
      chunks: true,
      limit: true,
      concurrent: true,
      conversations: true,
      parallel: true,
      cancel: true,
      handoffs: true,
      subagents: true,
    }),
  async run(scenario, emit, signal) {
    const { agents, messages, tools, conversation } = scenario;
    const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content).join('\n');
    const alone = [{ name: 'only', instructions: system, tools: tools.map(({ name }) => name), handoffs: [], subagents: [] }];
    const team = new Kind({ ...scenario, agents: agents ?? alone }, emit, signal);
    const thread = threads.get(conversation) ?? { messages: [], active: team.active };
    team.active = thread.active;
    thread.messages.push(...messages.filter(({ role }) => role !== 'system'));
    if (conversation) threads.set(conversation, thread);
    try {
      return value(await team.talk(thread.messages));
    } catch (exception) {
      return error(exception, { reasons: { LimitError: 'limit' } });
    } finally {
      thread.active = team.active;
    }
  },
});
