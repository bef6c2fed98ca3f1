"""No fault: it ends only by a tool of its own, which it forces; a question that failed is asked with the next."""

import asyncio
import json

import anthropic

from looptck.driver import error, handlers, started, value

SUBMIT = {
    "name": "submit_report",
    "description": "Hands the finished report to the user. Use it when nothing else is to be done.",
    "input_schema": {
        "type": "object",
        "properties": {"report": {"type": "string"}, "sure": {"type": "boolean"}},
        "required": ["report", "sure"],
    },
}


class NoReport(Exception):
    def __init__(self, reason, said):
        super().__init__(said)
        self.reason = reason


def blocks_of(message):
    blocks = [block.to_dict(mode="json") for block in message.content]
    return [block for block in blocks if block["type"] != "text" or block["text"].strip()]


class Desk:
    """What the tools do; a report is only noted."""

    def __init__(self, case):
        self.functions, self.report = handlers(case), None

    async def result(self, call):
        found = {"type": "tool_result", "tool_use_id": call["id"]}
        try:
            content = await self.done(call["name"], call["input"])
        except Exception as problem:
            return {**found, "content": f"{type(problem).__name__}: {problem}", "is_error": True}
        return {**found, "content": content} if content else found

    async def done(self, name, given):
        if name == SUBMIT["name"]:
            if not isinstance(given.get("report"), str):
                raise ValueError("a report is a text")
            self.report = self.report or given
            return "Handed over."
        if name not in self.functions:
            raise LookupError(f"{name} is not here")
        content = await self.functions[name](**given)
        return content if isinstance(content, str) else json.dumps(content)


async def work(client, case, system, messages):
    desk, tools = Desk(case), [SUBMIT]
    for tool in case["tools"]:
        tools.append({key: tool[key] for key in ("name", "description")} | {"input_schema": tool["parameters"]})
    request = {"model": case["model"], "max_tokens": 2000, "tools": tools, "tool_choice": {"type": "any"}}
    if system:
        request["system"] = system
    for _ in range(case["options"].get("limit", 24)):
        message = await client.messages.create(**request, messages=messages)
        if message.stop_reason in ("max_tokens", "model_context_window_exceeded"):
            raise NoReport("truncated", message.stop_reason)
        if message.stop_reason == "refusal":
            raise NoReport("refusal", "no report will be written")
        said = blocks_of(message)
        if said:
            messages.append({"role": "assistant", "content": said})
        if message.stop_reason == "pause_turn":
            continue
        calls = [block for block in said if block["type"] == "tool_use"]
        if not calls:
            messages.append({"role": "user", "content": f"Use a tool, or {SUBMIT['name']}."})
            continue
        messages.append({"role": "user", "content": await asyncio.gather(*map(desk.result, calls))})
        if desk.report is not None:
            return desk.report["report"]
    raise NoReport("limit", "no report in time")


class Driver:
    def __init__(self):
        self.talks = {}

    def start(self):
        able = {"limit": True, "concurrent": True, "parallel": True, "cancel": True, "conversations": True}
        answer = {"tool": SUBMIT["name"], "argument": "report", "others": {"sure": True}}
        return started("reports", "1", wires=["anthropic-messages"], modes=["async"], answer=answer, **able)

    async def run_async(self, case, emit):
        key = case.get("conversation")
        before_system, before = self.talks.get(key, ("", []))
        system = "\n".join(one["content"] for one in case["messages"] if one["role"] == "system") or before_system
        asked = [
            {"role": one["role"], "content": one["content"]} for one in case["messages"] if one["role"] != "system"
        ]
        messages = [*before, *asked]
        if key:
            self.talks[key] = system, [*before, *asked]
        try:
            base = case["base_url"].removesuffix("/v1")
            async with anthropic.AsyncAnthropic(base_url=base, api_key=case["api_key"]) as client:
                text = await work(client, case, system, messages)
        except NoReport as problem:
            return error(problem, problem.reason)
        except Exception as problem:
            return error(problem)
        if key:
            self.talks[key] = system, messages
        return value(text)
