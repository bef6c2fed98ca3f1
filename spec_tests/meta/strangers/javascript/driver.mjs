// The process side of protocol 1: JSON lines on stdin and stdout. Each loop in this folder passes its own `run` to serve.

/** An error with a reason that the protocol knows. */
export class LoopError extends Error {
  constructor(reason, message) {
    super(message);
    this.name = 'LoopError';
    this.reason = reason;
  }
}

/** What a tool threw. */
export class ToolError extends Error {
  constructor(type, message) {
    super(message);
    this.name = type || 'Error';
  }
}

async function callTool(url, args) {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: args }),
  });
  const answer = await reply.json();
  if (answer.error) throw new ToolError(answer.error.type, answer.error.message);
  return answer.value;
}

const say = (message) => process.stdout.write(JSON.stringify(message) + '\n');

function reasonOf(error) {
  if (error?.reason) return error.reason;
  if (error?.message === 'terminated' || error?.code === 'ECONNRESET') return 'stream';
  return error?.message === 'fetch failed' || error?.code === 'ECONNREFUSED' ? 'provider' : 'other';
}

async function answer(id, given, run) {
  // A tool without a URL has no handler: `execute` is null, the model is offered it all the same.
  const tools = given.tools.map((tool) => ({ ...tool, execute: tool.url ? (args) => callTool(tool.url, args) : null }));
  let outcome;
  try {
    const text = await run({ ...given, tools }, (piece) => say({ type: 'chunk', id, text: piece }));
    outcome = { kind: 'value', text: text ?? null };
  } catch (error) {
    const type = error?.name || 'Error';
    outcome = { kind: 'error', reason: reasonOf(error), type, message: String(error?.message ?? error) };
  }
  say({ type: 'finished', id, outcome });
}

/** `started` without type, protocol, language and modes; `run(case, emit)` resolves to the final text or throws. */
export function serve({ started, run }) {
  const hear = (line) => {
    const message = JSON.parse(line);
    if (message.type === 'start')
      say({ type: 'started', protocol: 1, version: '1.0', language: 'javascript', modes: ['async'], profiles: [], ...started });
    else if (message.type === 'run') answer(message.id, message.case, run);
    else if (message.type === 'stop') process.exit(0);
  };
  let rest = '';
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (data) => {
    const lines = (rest + data).split('\n'); // node:readline would also split at U+2028 from Node 24 on
    rest = lines.pop();
    for (const line of lines) if (line.trim()) hear(line);
  });
  process.stdin.on('end', () => process.exit(0));
}
