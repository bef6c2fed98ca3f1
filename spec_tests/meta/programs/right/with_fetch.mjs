// A right program in JavaScript, over the Messages API: blocks are collected from the events of a stream.
import { appendFileSync } from "node:fs";

const TOOLS = [{
  name: "put",
  description: "Append a line to a file.",
  input_schema: {
    type: "object",
    properties: { into: { type: "string" }, line: { type: "string" }, fail: { type: "boolean" } },
    required: ["into", "line"],
  },
}];
const ROUNDS = 35;

async function* events(reply) {
  const decoder = new TextDecoder();
  let pending = "";
  for await (const piece of reply.body) {
    pending += decoder.decode(piece, { stream: true });
    const lines = pending.split(/\r\n|\n|\r(?!$)/);
    pending = lines.pop();
    for (const line of lines) {
      if (line.startsWith("data:")) yield JSON.parse(line.slice(5));
    }
  }
}

async function turn(messages) {
  const reply = await fetch(process.env.URL + "/v1/messages", {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": process.env.KEY, "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ model: process.env.MODEL, max_tokens: 1000, messages, tools: TOOLS, stream: true }),
  });
  if (!reply.ok || !(reply.headers.get("content-type") ?? "").includes("event-stream")) {
    throw new Error(`the service answered with ${reply.status}`);
  }
  const blocks = [];
  const inputs = [];
  let stop = null;
  let ended = false;
  for await (const event of events(reply)) {
    if (event.type === "error") throw new Error(event.error?.message);
    if (event.type === "content_block_start") {
      blocks[event.index] = { ...event.content_block };
      inputs[event.index] = "";
    }
    if (event.type === "content_block_delta") {
      const block = blocks[event.index];
      const { delta } = event;
      if (delta.type === "text_delta") block.text += delta.text;
      if (delta.type === "thinking_delta") block.thinking += delta.thinking;
      if (delta.type === "signature_delta") block.signature = delta.signature;
      if (delta.type === "input_json_delta") inputs[event.index] += delta.partial_json;
    }
    if (event.type === "message_delta") stop = event.delta.stop_reason ?? stop;
    if (event.type === "message_stop") ended = true;
  }
  if (!ended || !stop) throw new Error("the stream has no end");
  return { blocks, inputs, stop };
}

function run(name, input) {
  if (name !== "put") return [`there is no tool ${name}`, true];
  if (typeof input?.into !== "string" || typeof input?.line !== "string") return ["into and line are texts", true];
  appendFileSync(input.into, input.line + "\n");
  return input.fail ? ["the disk is full", true] : ["put", false];
}

async function main(prompt) {
  const messages = [{ role: "user", content: prompt }];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { blocks, inputs, stop } = await turn(messages);
    const text = blocks.filter((block) => block.type === "text").map((block) => block.text).join("");
    const asked = blocks.some((block) => block.type === "tool_use");
    if (!["end_turn", "tool_use", "stop_sequence"].includes(stop)) {
      console.log(text);
      console.error(`incomplete: ${stop}`);
      return 5;
    }
    if (!asked) {
      console.log(text);
      return 0;
    }
    const results = [];
    for (const [index, block] of blocks.entries()) {
      if (block.type !== "tool_use") continue;
      let input = null;
      try {
        input = JSON.parse(inputs[index] || "{}");
      } catch { /* the tool says what it wants */ }
      const isObject = input && typeof input === "object" && !Array.isArray(input);
      block.input = isObject ? input : {};
      const [content, failed] = run(block.name, isObject ? input : null);
      results.push({ type: "tool_result", tool_use_id: block.id, content, ...(failed ? { is_error: true } : {}) });
    }
    messages.push({ role: "assistant", content: blocks.filter((block) => block.type !== "text" || block.text) });
    messages.push({ role: "user", content: results });
  }
  throw new Error("too many rounds");
}

main(process.argv[2]).then((status) => process.exit(status), (error) => {
  console.error(`error: ${error.message}`);
  process.exit(1);
});
