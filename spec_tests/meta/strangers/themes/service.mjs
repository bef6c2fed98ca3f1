// What the loops in JavaScript share: a request that is tried again a few times, legal names, and the run of one call.

import { setTimeout as sleep } from 'node:timers/promises';
import { LoopError } from '../javascript/driver.mjs';

const BUSY = [408, 409, 429];
const PATIENCE = 30_000;

/** Sends the requests of one run. */
export class Service {
  tries = 3;
  pause = 50;

  constructor(given, path, headers) {
    this.url = `${given.base_url}/${path}`;
    this.headers = { 'content-type': 'application/json', ...headers };
  }

  passes(reply) {
    return BUSY.includes(reply.status) || reply.status >= 500;
  }

  /** Milliseconds until the next try: what the service asks for, or a growing pause. */
  delay(reply, attempt) {
    const fine = Number.parseFloat(reply.headers.get('retry-after-ms') ?? '');
    if (fine >= 0) return fine;
    const said = reply.headers.get('retry-after') ?? '';
    if (/^\s*\d+(\.\d+)?\s*$/.test(said)) return Number(said) * 1000;
    const until = Date.parse(said) - Date.now();
    return Number.isNaN(until) ? this.pause * 2 ** attempt : Math.max(0, until);
  }

  /** The body of a further try. */
  again(body) {
    return body;
  }

  async post(body) {
    for (let attempt = 0; ; attempt++) {
      const sent = JSON.stringify(attempt ? this.again(body) : body);
      const reply = await fetch(this.url, { method: 'POST', headers: this.headers, body: sent });
      if (reply.ok) return reply;
      const said = await reply.text();
      const delay = this.delay(reply, attempt);
      if (attempt + 1 >= this.tries || !this.passes(reply) || delay > PATIENCE)
        throw new LoopError('provider', `HTTP ${reply.status}: ${said}`);
      await sleep(delay);
    }
  }

  async json(body) {
    const reply = await this.post(body);
    try {
      return await reply.json();
    } catch (error) {
      throw new LoopError('provider', `the reply is not JSON: ${error.message}`);
    }
  }
}

/** Tools by names that every service takes; most keep their own. */
export function named(tools) {
  const legal = /^[a-zA-Z0-9_-]{1,64}$/;
  const names = new Map(tools.filter((tool) => legal.test(tool.name)).map((tool) => [tool.name, tool]));
  for (const tool of tools.filter((one) => !legal.test(one.name))) {
    const stem = tool.name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 58) || 'tool';
    let name = stem;
    for (let n = 2; names.has(name); n++) name = `${stem}_${n}`;
    names.set(name, tool);
  }
  return names;
}

/** What the model reads of a value. */
export const shown = (value) => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

/** The arguments of a call, which may come as text, as an object, or not at all. */
export function readArguments(raw) {
  const args = typeof raw === 'string' ? (raw.trim() ? JSON.parse(raw) : {}) : (raw ?? {});
  if (args === null || typeof args !== 'object' || Array.isArray(args))
    throw new TypeError('the arguments are no object');
  return args;
}

/** Run one call: what the model is told, and whether it failed. */
export async function runCall(tool, name, raw, show = shown) {
  if (!tool?.execute) return { text: `Error: there is no tool named ${name}`, failed: true };
  let args;
  try {
    args = readArguments(raw);
  } catch (error) {
    return { text: `Error: the arguments cannot be read: ${error.message}`, failed: true };
  }
  try {
    return { text: show(await tool.execute(args)), failed: false };
  } catch (error) {
    return { text: `Error: ${error.name}: ${error.message || 'no message'}`, failed: true };
  }
}

/** The data of server-sent events, whose lines end in CR, LF or both. */
export async function* dataOf(body) {
  let rest = '';
  let afterCr = false;
  let data = [];
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    if (!piece) continue;
    const fresh = afterCr && piece.startsWith('\n') ? piece.slice(1) : piece; // the second half of a CRLF
    afterCr = piece.endsWith('\r');
    const lines = (rest + fresh).split(/\r\n|\n|\r/);
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
      if (line !== '' || !data.length) continue;
      yield data.join('\n');
      data = [];
    }
  }
}
