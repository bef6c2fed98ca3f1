// The process side for loops that can be cancelled: each run has an AbortController, which `cancel` and leaving pull.

import { ToolError } from '../javascript/driver.mjs';

const say = (message) => process.stdout.write(JSON.stringify(message) + '\n');

/** Post JSON to the toolbox or the hook, and give the reply. */
export async function postKit(url, message, signal) {
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(message), signal });
  return reply.json();
}

/** Use a tool through the toolbox. */
export async function useTool(tool, args, signal) {
  const { error, value } = await postKit(tool.url, { arguments: args }, signal);
  if (error) throw new ToolError(error.type, error.message);
  return value;
}

function told(error) {
  const reason =
    error?.reason ??
    (error?.name === 'AbortError' ? 'cancelled' : error?.message === 'fetch failed' ? 'provider' : undefined) ??
    (error?.message === 'terminated' || error instanceof SyntaxError ? 'stream' : 'other');
  return { kind: 'error', reason, type: error?.name || 'Error', message: String(error?.message ?? error) };
}

/**
 * `started` without type, protocol, language and modes; `run(case, emit, control)` resolves to an outcome or throws,
 * where `control.signal` is aborted by a user who cancels, and `control.leave()` by one who leaves.
 */
export function serve({ started, run }) {
  const controllers = new Map();

  async function play(id, given) {
    const controller = new AbortController();
    controllers.set(id, controller);
    const control = { signal: controller.signal, leave: () => controller.abort() };
    let outcome;
    try {
      outcome = await run(given, (text) => say({ type: 'chunk', id, text }), control);
    } catch (error) {
      outcome = told(error);
    }
    controllers.delete(id);
    say({ type: 'finished', id, outcome });
  }

  function hear(message) {
    if (message.type === 'start')
      say({ type: 'started', protocol: 1, version: '1.0', language: 'javascript', modes: ['async'], profiles: [], ...started });
    else if (message.type === 'run') play(message.id, message.case);
    else if (message.type === 'cancel') controllers.get(message.id)?.abort();
    else if (message.type === 'stop') process.exit(0);
  }

  let rest = '';
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (data) => {
    const lines = (rest + data).split('\n');
    rest = lines.pop();
    for (const line of lines) if (line.trim()) hear(JSON.parse(line));
  });
  process.stdin.on('end', () => process.exit(0));
}

export const ABLE = Object.fromEntries(
  ['stream', 'chunks', 'limit', 'concurrent', 'conversations', 'histories', 'shared']
    .concat(['cancel', 'leave', 'confirm', 'suspend', 'travels', 'changes'])
    .map((word) => [word, true]),
);
