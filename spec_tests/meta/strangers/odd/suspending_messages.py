"""No fault: a state machine that stops before calls which need approval; its state is JSON; cached prefix; parts."""

import json

import httpx

from looptck.driver import error, handlers, started, suspended, value

MARK = {"cache_control": {"type": "ephemeral"}}


class Halted(Exception):
    def __init__(self, reason, said):
        super().__init__(said)
        self.reason = reason


class Machine:
    """States are names; each step gives the name of the next, and whatever has to be known is in `memory`."""

    def __init__(self, case, memory):
        self.case, self.memory = case, memory
        self.functions = handlers(case)
        self.careful = {tool["name"] for tool in case["tools"] if tool.get("approval")}
        headers = {"x-api-key": case["api_key"], "anthropic-version": "2023-06-01"}
        self.http = httpx.Client(base_url=case["base_url"], headers=headers, timeout=60, trust_env=False)

    def run(self):
        state = self.memory.pop("state", "ask")
        while state not in ("answered", "waiting"):
            state = getattr(self, state)()
        self.memory["state"] = "decide"
        return state

    def ask(self):
        if not self.memory["left"]:
            raise Halted("limit", "too many requests")
        self.memory["left"] -= 1
        reply = self.http.post("/messages", json=self.body())
        if reply.status_code != 200:
            raise Halted("provider", f"{reply.status_code}: {reply.text}")
        self.reply = reply.json()
        return "read"

    def body(self):
        memory = self.memory
        body = {
            "model": self.case["model"],
            "max_tokens": 8000,
            "messages": memory["messages"],
            "metadata": {"user_id": "u-1"},
            "service_tier": "auto",
            "stop_sequences": ["\n\nHuman:"],
        }
        if memory["system"]:
            body["system"] = [*({"type": "text", "text": text} for text in memory["system"][:-1])]
            body["system"].append({"type": "text", "text": memory["system"][-1], **MARK})
        tools = [
            {"name": one["name"], "description": one["description"], "input_schema": one["parameters"]}
            for one in self.case["tools"]
        ]
        if tools:
            tools[-1] |= MARK
            body |= {"tools": tools, "tool_choice": {"type": "auto", "disable_parallel_tool_use": False}}
        return body

    def read(self):
        stop, content = self.reply["stop_reason"], self.reply["content"]
        if stop in ("max_tokens", "model_context_window_exceeded"):
            raise Halted("truncated", stop)
        if stop == "refusal":
            raise Halted("refusal", "the model will not")
        kept = [block for block in content if block["type"] != "text" or block["text"].strip()]
        if kept:
            self.memory["messages"].append({"role": "assistant", "content": kept})
        if stop == "pause_turn":
            return "ask"
        self.memory["calls"] = [block for block in content if block["type"] == "tool_use"]
        if not self.memory["calls"]:
            self.text = "".join(block["text"] for block in content if block["type"] == "text")
            return "answered"
        waiting = [call for call in self.memory["calls"] if call["name"] in self.careful]
        return "waiting" if waiting else "decide"

    def decide(self):
        decisions = self.memory.pop("decisions", {})
        results = [self.result(call, decisions.get(call["id"])) for call in self.memory.pop("calls")]
        self.memory["messages"].append({"role": "user", "content": results})
        return "ask"

    def result(self, call, decision):
        found = {"type": "tool_result", "tool_use_id": call["id"]}
        said, arguments = (decision or {}).get("decision"), call["input"]
        if said == "reject":
            why = decision.get("feedback") or "No reason was given."
            return {**found, "content": [{"type": "text", "text": f"Not allowed by the user. {why}"}], "is_error": True}
        if said == "change":
            arguments = decision["parameters"]
        try:
            if call["name"] not in self.functions:
                raise LookupError(f"{call['name']} is no tool")
            content = self.functions[call["name"]](**arguments)
        except Exception as problem:
            said = f"{call['name']}: {problem}" if str(problem) else f"{call['name']}: {type(problem).__name__}"
            return {**found, "content": [{"type": "text", "text": said}], "is_error": True}
        text = content if isinstance(content, str) else json.dumps(content)
        return {**found, "content": [{"type": "text", "text": text}]} if text.strip() else found


def asked(case):
    """What is known at the beginning; messages of one role behind each other are one message of several blocks."""
    messages = []
    for one in case["messages"]:
        if one["role"] == "system":
            continue
        block = {"type": "text", "text": one["content"]}
        if messages and messages[-1]["role"] == one["role"]:
            messages[-1]["content"].append(block)
        else:
            messages.append({"role": one["role"], "content": [block]})
    system = [one["content"] for one in case["messages"] if one["role"] == "system"]
    return {"messages": messages, "system": system, "left": case["options"].get("limit", 30)}


class Driver:
    def start(self):
        able = {"limit": True, "concurrent": True, "suspend": True, "travels": True, "changes": True}
        return started("messages by a state machine", "1", wires=["anthropic-messages"], modes=["sync"], **able)

    def run(self, case, emit):
        memory = asked(case)
        if "resume" in case:
            memory = json.loads(case["resume"]["state"])
            memory["decisions"] = {one["id"]: one for one in case["resume"]["decisions"]}
        machine = Machine(case, memory)
        try:
            if machine.run() == "answered":
                return value(machine.text)
            calls = [call for call in memory["calls"] if call["name"] in machine.careful]
            pending = [{"id": call["id"], "name": call["name"], "arguments": call["input"]} for call in calls]
            return suspended(json.dumps(memory), pending)
        except Halted as problem:
            return error(problem, problem.reason)
        except Exception as problem:
            return error(problem)
        finally:
            machine.http.close()
