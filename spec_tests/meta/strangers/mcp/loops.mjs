// A loop on streamed Chat Completions that takes tools from MCP servers, and the slips of others like it.
import { handlers, serve, started, value, error } from '../../../../drivers/javascript/looptck-driver.mjs';
import { CONNECTIONS } from './stateless.mjs';

class Connection {
  #session; #version; #last = 0;
  constructor({ name, url }) { Object.assign(this, { name, url }); }

  headers(more = {}) {
    const found = { accept: 'application/json, text/event-stream', ...more };
    if (this.#session) found['mcp-session-id'] = this.#session;
    if (this.#version) found['mcp-protocol-version'] = this.#version;
    return found;
  }

  post(message) {
    const headers = this.headers({ 'content-type': 'application/json' });
    return fetch(this.url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
  }

  async request(method, params, again = true) {
    const id = `r${++this.#last}`;
    const reply = await this.post({ id, method, params });
    if (reply.status === 404 && this.#session && again) {
      await this.open();
      return this.request(method, params, false);
    }
    if (!reply.ok) throw new Error(`${method}: status ${reply.status}`);
    this.#session ??= reply.headers.get('mcp-session-id');
    const streams = reply.headers.get('content-type')?.startsWith('text/event-stream');
    const found = streams ? await this.awaited(reply, id) : await reply.json();
    if (found.error) throw new Error(`${method}: ${found.error.message}`);
    return found.result;
  }

  async awaited(reply, id) {
    let left = '';
    const decoder = new TextDecoder();
    for await (const bytes of reply.body) {
      left += decoder.decode(bytes, { stream: true });
      const events = left.split(/\r?\n\r?\n/);
      left = events.pop();
      for (const event of events) {
        const data = event.split(/\r?\n/).filter((line) => line.startsWith('data:'))
          .map((line) => line.slice(5).replace(/^ /, '')).join('\n');
        if (!data) continue;
        const message = JSON.parse(data);
        if (message.id === id && !message.method) return message;
        if (message.method === 'ping') await this.post({ id: message.id, result: {} });
      }
    }
    throw new Error('the server has hung up');
  }

  async open() {
    this.#session = this.#version = undefined;
    const clientInfo = { name: 'stranger', version: '1' };
    const found = await this.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    this.#version = found.protocolVersion;
    this.tells = found.capabilities;
    await (await this.post({ method: 'notifications/initialized' })).text();
  }

  async tools() {
    if (!this.tells.tools) return [];
    const found = [];
    for (let cursor; ;) {
      const page = await this.request('tools/list', { cursor });
      found.push(...page.tools);
      if (page.nextCursor === undefined) return found;
      cursor = page.nextCursor;
    }
  }

  async close() {
    if (this.#session) await (await fetch(this.url, { method: 'DELETE', headers: this.headers() })).text();
  }
}

class Loop {
  connection = Connection;

  async run(scenario) {
    const open = (scenario.tool_servers ?? []).map((server) => new this.connection(server));
    try {
      await Promise.all(open.map((one) => one.open()));
      return value(await this.talk(scenario, open));
    } catch (problem) {
      return error(problem);
    } finally {
      await Promise.all(open.map((one) => one.close().catch(() => {})));
    }
  }

  legal(name) { return name.replace(/[^\w-]/g, '_').slice(0, 64); }
  named(server, name) { return this.legal(`${server.name}__${name}`); }
  schema(tool) { return { ...tool.inputSchema, properties: tool.inputSchema.properties ?? {} }; }
  call(server, name, args) { return server.request('tools/call', { name, arguments: args }); }
  arguments(text) { return JSON.parse(text || '{}'); }

  async offered(scenario, open) {
    const tools = scenario.tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
    const runs = { ...handlers(scenario) };
    for (const server of open) {
      for (const tool of await server.tools()) {
        const name = this.named(server, tool.name);
        tools.push({ name, description: tool.description ?? '', parameters: this.schema(tool) });
        runs[name] = async (args) => this.text(await this.call(server, tool.name, args));
      }
    }
    return { tools, runs };
  }

  text({ content, structuredContent, isError }) {
    const said = content.map((part) => this.part(part)).join('\n') || JSON.stringify(structuredContent) || '';
    if (isError) throw new Error(said);
    return said;
  }

  part(part) {
    if (part.type === 'text') return part.text;
    if (part.type === 'resource') return part.resource.text ?? `[${part.resource.uri}: no text]`;
    if (part.type === 'resource_link') return `[${part.name}](${part.uri})`;
    return `[${part.type} (${part.mimeType}) was omitted]`;
  }

  async talk(scenario, open) {
    const { tools, runs } = await this.offered(scenario, open);
    const messages = [...scenario.messages];
    for (;;) {
      const { content, calls } = await this.ask(scenario, messages, tools);
      if (!calls.length) return content;
      messages.push({ role: 'assistant', content: content || null, tool_calls: calls });
      messages.push(...await Promise.all(calls.map((call) => this.result(call, runs))));
    }
  }

  async result(call, runs) {
    let content;
    try {
      const run = runs[call.function.name];
      if (!run) throw new Error('there is no such tool');
      const found = await run(this.arguments(call.function.arguments));
      content = typeof found === 'string' ? found : JSON.stringify(found);
    } catch (problem) {
      content = `Error: ${problem.message}`;
    }
    return { role: 'tool', tool_call_id: call.id, content };
  }

  async ask(scenario, messages, tools) {
    const body = { model: scenario.model, messages, stream: true };
    if (tools.length) body.tools = tools.map((one) => ({ type: 'function', function: one }));
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${scenario.api_key}` };
    const url = `${scenario.base_url}/chat/completions`;
    const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!reply.ok) throw new Error(`status ${reply.status}: ${await reply.text()}`);
    let content = '';
    const calls = [];
    for (const line of (await reply.text()).split(/\r?\n/)) {
      if (!line.startsWith('data:') || line.includes('[DONE]')) continue;
      const delta = JSON.parse(line.slice(5)).choices[0]?.delta ?? {};
      content += delta.content ?? '';
      for (const part of delta.tool_calls ?? []) {
        const call = calls[part.index] ??= { id: part.id, type: 'function', function: { name: '', arguments: '' } };
        call.function.name += part.function?.name ?? '';
        call.function.arguments += part.function?.arguments ?? '';
      }
    }
    return { content, calls };
  }
}

const SLIPS = {
  'first-page': class extends Loop {
    connection = class extends Connection {
      async tools() { return (await this.request('tools/list', {})).tools; }
    };
  },
  'content-as-json': class extends Loop {
    text(result) { return JSON.stringify(result.content); }
  },
  'first-text': class extends Loop {
    text(result) { return result.content[0]?.text ?? ''; }
  },
  'undefined-text': class extends Loop {
    text({ content }) { return content.map((part) => part.text).join('\n'); }
  },
  'error-is-structured': class extends Loop {
    text(result) { return result.structuredContent ? JSON.stringify(result.structuredContent) : super.text(result); }
  },
  'properties-alone': class extends Loop {
    schema(tool) { return { type: 'object', properties: tool.inputSchema.properties ?? {} }; }
  },
  'as-it-is-listed': class extends Loop {
    schema(tool) { return tool.inputSchema; }
    named(server, name) { return `${server.name}.${name}`; }
  },
  'split-at-the-first': class extends Loop {
    named(server, name) { return this.legal(`${server.name}_${name}`); }
    async offered(scenario, open) {
      const found = await super.offered(scenario, open);
      const own = handlers(scenario);
      found.runs = new Proxy(own, {
        get: (_, full) => own[full] ?? (async (args) => {
          const [first, rest] = full.split('_');
          const server = open.find((one) => one.name === first);
          return this.text(await this.call(server, rest, args));
        }),
      });
      return found;
    }
  },
  'one-line-of-data': class extends Loop {
    connection = class extends Connection {
      async awaited(reply) {
        return JSON.parse((await reply.text()).split('\n').find((line) => line.startsWith('data:')).slice(5));
      }
    };
  },
  'last-of-a-name': class extends Loop {
    named(_, name) { return this.legal(name); }
    async offered(scenario, open) {
      const { tools, runs } = await super.offered(scenario, open);
      return { tools: [...new Map(tools.map((one) => [one.name, one])).values()], runs };
    }
  },
};

for (const [name, connection] of Object.entries(CONNECTIONS)) {
  SLIPS[name] = class extends Loop {
    connection = connection;
  };
}

const loop = new (SLIPS[process.argv[2]] ?? Loop)();
serve({
  start: () => started({ name: 'stranger', version: '1', wires: ['openai-chat'], stream: true, mcp_client: true, concurrent: true, parallel: true }),
  run: (scenario) => loop.run(scenario),
});
