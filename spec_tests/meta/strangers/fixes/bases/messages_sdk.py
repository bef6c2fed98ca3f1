"""Messages with Anthropic's sync client: plain replies, a tool of its own, approval asked while the run waits."""

import json

import anthropic
import jsonschema

from looptck.driver import confirm, error, handlers, started, value

NOTES = {
    "name": "remember_note",
    "description": "Remember something for later in this session.",
    "input_schema": {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]},
}


class Exhausted(Exception):
    pass


class CutShort(Exception):
    pass


class Declined(Exception):
    pass


REASONS = {Exhausted: "limit", CutShort: "truncated", Declined: "refusal"}


class Assistant:
    def __init__(self, case, max_rounds=30):
        base = case["base_url"].removesuffix("/v1")
        self.client = anthropic.Anthropic(base_url=base, api_key=case["api_key"])
        self.case, self.max_rounds, self.notes = case, max_rounds, []
        self.functions = handlers(case)
        self.by_name = {tool["name"]: tool for tool in case["tools"]}

    def tools(self):
        theirs = [
            {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
            for tool in self.case["tools"]
        ]
        return [*theirs, NOTES] if theirs else []

    def ask(self, messages):
        system = [one["content"] for one in self.case["messages"] if one["role"] == "system"]
        more = {"system": "\n".join(system)} if system else {}
        tools = self.tools()
        if tools:
            more["tools"] = tools
        return self.client.messages.create(model=self.case["model"], max_tokens=4096, messages=messages, **more)

    def answer(self, messages):
        for _ in range(self.max_rounds):
            reply = self.ask(messages)
            if reply.stop_reason in ("max_tokens", "model_context_window_exceeded"):
                raise CutShort(reply.stop_reason)
            if reply.stop_reason == "refusal":
                raise Declined("the model refused")
            blocks = [block.model_dump(mode="json", exclude_unset=True) for block in reply.content]
            blocks = [block for block in blocks if block["type"] != "text" or block["text"].strip()]
            if blocks:
                messages = [*messages, {"role": "assistant", "content": blocks}]
            if reply.stop_reason == "pause_turn":
                continue
            calls = [block for block in reply.content if block.type == "tool_use"]
            if not calls:
                return "".join(block.text for block in reply.content if block.type == "text")
            messages = [*messages, {"role": "user", "content": [self.result(call) for call in calls]}]
        raise Exhausted(f"{self.max_rounds} rounds")

    def result(self, call):
        content, failed = self.outcome(call.id, call.name, call.input)
        found = {"type": "tool_result", "tool_use_id": call.id, "content": content}
        return {**found, "is_error": True} if failed else found

    def outcome(self, id, name, arguments):
        if name == NOTES["name"] and name not in self.by_name:
            self.notes.append(arguments.get("note"))
            return "Noted.", False
        if name not in self.functions:
            return f"{name} is not a tool; choose from {sorted(self.by_name)}", True
        tool = self.by_name[name]
        try:
            jsonschema.validate(arguments, tool["parameters"])
        except jsonschema.ValidationError as problem:
            return f"Invalid input for {name}: {problem.message}", True
        if tool.get("approval") and "confirm" in self.case:
            decision = confirm(self.case, id, name, arguments)
            if decision["decision"] == "reject":
                return f"The user said no: {decision.get('feedback') or 'without a reason'}", True
            if decision["decision"] == "change":
                arguments = decision["parameters"]
        try:
            found = self.functions[name](**arguments)
        except Exception as problem:
            return f"{name} raised {type(problem).__name__}: {problem}", True
        return (found if isinstance(found, str) else json.dumps(found)) or "(no output)", False


class Driver:
    def start(self):
        able = {"limit": True, "concurrent": True, "confirm": True, "changes": True}
        return started("messages with the SDK", "1", wires=["anthropic-messages"], modes=["sync"], **able)

    def run(self, case, emit):
        assistant = Assistant(case, case["options"].get("limit", 30))
        messages = [
            {"role": one["role"], "content": one["content"]} for one in case["messages"] if one["role"] != "system"
        ]
        try:
            return value(assistant.answer(messages))
        except Exception as problem:
            return error(problem, reasons=REASONS)
        finally:
            assistant.client.close()
