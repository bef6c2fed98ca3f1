// `node chat.mjs FAULT`: the loop of chat_talk.mjs with one fault, or without an argument with none.

import { Talk, host } from './chat_talk.mjs';
import { ABLE, serve } from './runs.mjs';

const FAULTS = {};

const name = process.argv[2] || 'none';
const fault = name === 'none' ? {} : FAULTS[name];
serve({
  started: { name: `conversations-chat-${name}`, wires: ['openai-chat'], capabilities: ABLE },
  run: host(fault),
});
