// Fault: the body of a plain reply is collected as a string, so each chunk is decoded by itself.
// Rule: the chunks of a body have no meaning; its characters are decoded once it is whole.
// Written in: RFC 9112 §6; Node.js documentation, readable.setEncoding.
// Common wherever `data += chunk` is written over node:http.

import http from 'node:http';
import { LoopError, serve } from './driver.mjs';

function post({ base_url, api_key }, payload) {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${api_key}` };
    const request = http.request(`${base_url}/chat/completions`, { method: 'POST', headers }, (response) => {
      let data = '';
      response.on('data', (chunk) => (data += chunk)); // the fault
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) return resolve(JSON.parse(data));
        reject(new LoopError('provider', `${response.statusCode}: ${data}`));
      });
    });
    request.on('error', reject);
    request.end(JSON.stringify(payload));
  });
}

async function run(given) {
  const tools = given.tools.map((tool) => ({
    type: 'function',
    function: { name: tool.name, description: tool.description, parameters: tool.parameters },
  }));
  const messages = [...given.messages];
  for (;;) {
    const { choices } = await post(given, { model: given.model, messages, tools });
    const { message } = choices[0];
    if (!message.tool_calls?.length) return message.content;
    messages.push(message);
    for (const call of message.tool_calls) {
      const tool = given.tools.find(({ name }) => name === call.function.name);
      const value = await tool.execute(JSON.parse(call.function.arguments));
      const content = typeof value === 'string' ? value : JSON.stringify(value);
      messages.push({ role: 'tool', tool_call_id: call.id, content });
    }
  }
}

serve({ started: { name: 'chat-body-by-chunk', wires: ['openai-chat'], capabilities: {} }, run });
