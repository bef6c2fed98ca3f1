// Connections to MCP servers in the revision without a handshake: a right one, and slips of others like it.
const REVISION = '2026-07-28';
const KEY = 'io.modelcontextprotocol/';

class Stateless {
  #last = 0;
  marks = new Map();
  constructor({ name, url }) { Object.assign(this, { name, url }); }

  async open() {}
  async close() {}

  meta() { return { [`${KEY}protocolVersion`]: REVISION, [`${KEY}clientCapabilities`]: {} }; }
  isPlain(text) { return /^[!-~]([ \t!-~]*[!-~])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text); }
  coded(text) { return `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`; }
  safe(value) { return this.isPlain(String(value)) ? String(value) : this.coded(String(value)); }

  headers(method, params) {
    const found = { 'MCP-Protocol-Version': REVISION, 'Mcp-Method': method };
    if (method !== 'tools/call') return found;
    found['Mcp-Name'] = this.safe(params.name);
    for (const { header, path } of this.marks.get(params.name) ?? []) {
      const value = path.reduce((inner, step) => inner?.[step], params.arguments);
      if (value !== undefined && value !== null) found[`Mcp-Param-${header}`] = this.safe(value);
    }
    return found;
  }

  async request(method, params) {
    if (method === 'tools/call') return this.called(params);
    return this.asked(method, params);
  }

  async asked(method, params = {}) {
    const id = ++this.#last;
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: this.meta() } });
    const usual = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const reply = await fetch(this.url, { method: 'POST', headers: { ...usual, ...this.headers(method, params) }, body });
    if (!reply.ok) throw new Error(`${method}: status ${reply.status}`);
    const text = await reply.text();
    const streams = reply.headers.get('content-type').startsWith('text/event-stream');
    const found = streams ? this.answer(text) : JSON.parse(text);
    if (!found) throw new Error('the server has hung up');
    if (found.error) throw new Error(`${method}: ${found.error.message}`);
    return found.result;
  }

  answer(text) {
    const events = text.split(/\r?\n\r?\n/).map((event) => event.split(/\r?\n/)
      .filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trim()).join('\n'));
    return events.filter(Boolean).map((data) => JSON.parse(data)).find((message) => !message.method);
  }

  async tools() {
    const found = [];
    for (let params = {}; params;) {
      const page = await this.asked('tools/list', params);
      found.push(...page.tools.filter((tool) => this.mark(tool)));
      params = this.next(page);
    }
    return found;
  }

  next({ nextCursor }) { return nextCursor === undefined ? null : { cursor: nextCursor }; }

  mark({ name, inputSchema }) {
    const found = [...this.marked(inputSchema)];
    const legal = found.every(({ header, type }) => /^[!#$%&'*+.^_`|~\w-]+$/.test(header) && /^(string|integer|boolean)$/.test(type));
    if (!legal || new Set(found.map(({ header }) => header.toLowerCase())).size < found.length) return false;
    this.marks.set(name, found);
    return true;
  }

  *marked({ properties = {} }, path = []) {
    for (const [name, inner] of Object.entries(properties)) {
      const here = [...path, name];
      if ('x-mcp-header' in inner) yield { header: inner['x-mcp-header'], path: here, type: inner.type };
      yield* this.marked(inner, here);
    }
  }

  async called(params) {
    for (let more = {}; ;) {
      const found = await this.asked('tools/call', { ...params, ...more });
      const type = found.resultType ?? 'complete';
      if (type === 'complete') return found;
      if (type !== 'input_required' || found.inputRequests) throw new Error(`the server answers with ${type}`);
      more = this.again(found);
    }
  }

  again({ requestState }) { return requestState === undefined ? {} : { requestState }; }
}

export const CONNECTIONS = {
  'stateless': Stateless,
  'stateless-short-keys': class extends Stateless {
    meta() { return { protocolVersion: REVISION, clientCapabilities: {} }; }
  },
  'stateless-latin1': class extends Stateless {
    coded(text) { return `=?base64?${Buffer.from(text, 'latin1').toString('base64')}?=`; }
  },
  'stateless-untrimmed': class extends Stateless {
    isPlain(text) { return /^[ -~]*$/.test(text) && !/^=\?base64\?.*\?=$/.test(text); }
  },
  'stateless-undefined': class extends Stateless {
    headers(method, params) {
      const found = super.headers(method, params);
      for (const { header } of this.marks.get(params.name) ?? []) found[`Mcp-Param-${header}`] ??= 'undefined';
      return found;
    }
  },
  'stateless-trusts-results': class extends Stateless {
    async called(params) { return { content: [], ...await this.asked('tools/call', params) }; }
  },
  'stateless-upper-state': class extends Stateless {
    again({ requestState }) { return { requestState: encodeURIComponent(requestState) }; }
  },
  'stateless-falsy-cursor': class extends Stateless {
    next({ nextCursor }) { return nextCursor ? { cursor: nextCursor } : null; }
  },
};
