// The driver of VoltAgent: each case becomes an Agent with a model of the AI SDK. README.md says what is chosen here.

import { error, handlers, serve, started, value } from './looptck-driver.mjs';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { Agent, createTool } from '@voltagent/core';
import { jsonSchema } from 'ai';
import { readFileSync } from 'node:fs';
import { written } from './looptck-zod.mjs';

const PACKAGE = new URL('node_modules/@voltagent/core/package.json', import.meta.url);

serve({
  start: () =>
    started({
      name: 'voltagent',
      version: JSON.parse(readFileSync(PACKAGE)).version,
      wires: ['openai-chat', 'openai-responses', 'anthropic-messages'],
      stream: true,
      chunks: true,
      limit: true,
      concurrent: true,
      parallel: true,
      eager: true, // a stream's calls run as soon as each is whole, as in the AI SDK below
      cancel: true,
    }),

  async run(scenario, emit, signal) {
    try {
      const agent = agentFor(scenario);
      const options = { abortSignal: signal, ...limitOf(scenario) };
      if (!scenario.stream) return value((await agent.generateText(said(scenario), options)).text);
      const response = await agent.streamText(said(scenario), options);
      for await (const piece of response.textStream) emit(piece);
      return value(await response.text);
    } catch (exception) {
      return error(exception, { reasons: { AI_APICallError: 'provider', AI_RetryError: 'provider' } });
    }
  },
});

const limitOf = ({ options }) => ('limit' in options ? { maxSteps: options.limit } : {});

function agentFor(scenario) {
  const system = scenario.messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  return new Agent({ name: 'assistant', instructions: system.join('\n'), model: modelOf(scenario), tools: toolsOf(scenario) });
}

function modelOf({ wire, base_url: baseURL, api_key: apiKey, model }) {
  if (wire === 'anthropic-messages') return createAnthropic({ baseURL, apiKey })(model);
  const openai = createOpenAI({ baseURL, apiKey });
  return wire === 'openai-chat' ? openai.chat(model) : openai(model);
}

function toolsOf(scenario) {
  const functions = handlers(scenario);
  return scenario.tools
    .filter(({ name }) => functions[name])
    .map(({ name, description, parameters }) =>
      createTool({ name, description, parameters: written(parameters) ?? jsonSchema(parameters), execute: functions[name] }),
    );
}

function said(scenario) {
  const messages = scenario.messages.filter(({ role }) => role !== 'system');
  return messages.length === 1 ? messages[0].content : messages;
}
