// The looptck driver of my loop. docs/capabilities.md of looptck lists what more it may declare.

import { error, handlers, serve, started, value } from './looptck-driver.mjs';

// Other wires: 'openai-responses', 'anthropic-messages'. The base URL ends in /v1, as OpenAI clients take it; for an
// Anthropic client write scenario.base_url.replace(/\/v1$/, '').
const start = () => started({ name: 'my loop', version: '0', wires: ['openai-chat'], concurrent: true });

// Run the loop on one case and return its final text. It asks scenario.model at scenario.base_url with
// scenario.api_key, beginning with scenario.messages: role (system, user or assistant) and content. Each of
// scenario.tools has a name, a description and parameters (a JSON Schema); functions[name](args) runs it and resolves to
// any JSON value. emit(text) is for loops that stream, and the AbortSignal signal for loops that can be cancelled.
async function answer(scenario, functions, emit, signal) {
  throw new Error('call your loop here'); // the one line to write
}

async function run(scenario, emit, signal) {
  try {
    return value(await answer(scenario, handlers(scenario), emit, signal));
  } catch (exception) {
    return error(exception);
  }
}

serve({ start, run });
