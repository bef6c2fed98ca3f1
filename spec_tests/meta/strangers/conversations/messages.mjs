// `node messages.mjs FAULT`: the loop of messages_talk.mjs with one fault, or without an argument with none.

import { host, loop } from './messages_talk.mjs';
import { ABLE, serve } from './runs.mjs';

const FAULTS = {};

const name = process.argv[2] || 'none';
serve({
  started: {
    name: `conversations-messages-${name}`,
    wires: ['anthropic-messages'],
    capabilities: { ...ABLE, parallel: true },
  },
  run: host(name === 'none' ? {} : FAULTS[name]),
});
