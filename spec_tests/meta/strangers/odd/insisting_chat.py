"""No fault: a cut turn is asked for again with more room, a lost stream again, and a turn that cannot run anew."""

import json

import requests

from looptck.driver import error, handlers, started, value

ROOM, MOST_ROOM = 1024, 4096
RETRIES = 3


class Stopped(Exception):
    def __init__(self, reason, said):
        super().__init__(said)
        self.reason = reason


class Lost(Exception):
    """A reply that did not come whole."""


class Unusable(Exception):
    """A turn with a call that cannot run."""


class Insisting:
    """One run. Nothing of a turn that cannot be used stays in the conversation but words about it."""

    def __init__(self, http, case):
        self.http, self.case, self.functions = http, case, handlers(case)
        self.talk = [{"role": one["role"], "content": one["content"]} for one in case["messages"]]
        self.room, self.left, self.corrections = ROOM, case["options"].get("limit", 20), RETRIES

    def answer(self):
        while True:
            turn, finish = self.whole()
            if finish == "length" and self.room < MOST_ROOM:
                self.room *= 4
            elif finish in ("length", "content_filter"):
                return value(turn.get("content"), stop=finish)
            elif turn.get("refusal"):
                return value(turn["refusal"], stop="refusal")
            elif not turn.get("tool_calls"):
                return value(turn.get("content") or "", stop="end")
            else:
                self.work(turn)

    def whole(self):
        for _ in range(RETRIES):
            if self.left <= 0:
                break
            self.left -= 1
            try:
                return self.turn()
            except Lost as lost:
                last = lost
        raise Stopped("limit" if self.left <= 0 else "stream", "no requests left" if self.left <= 0 else str(last))

    def turn(self):
        body = {"model": self.case["model"], "messages": self.talk, "max_tokens": self.room}
        if self.case["tools"]:
            kept = ("name", "description", "parameters")
            functions = [{key: tool[key] for key in kept} for tool in self.case["tools"]]
            body["tools"] = [{"type": "function", "function": function} for function in functions]
        head = {"Authorization": f"Bearer {self.case['api_key']}"}
        try:
            reply = self.http.post(f"{self.case['base_url']}/chat/completions", json=body, headers=head, timeout=60)
            if reply.status_code == 200:
                choice = reply.json()["choices"][0]
                return choice["message"], choice["finish_reason"]
        except (requests.RequestException, ValueError, LookupError, TypeError) as broken:
            raise Lost(repr(broken)) from broken
        if reply.status_code >= 500:
            raise Lost(reply.text)
        raise Stopped("provider", f"{reply.status_code}: {reply.text}")

    def work(self, turn):
        try:
            planned = [self.planned(call) for call in turn["tool_calls"]]
        except Unusable as unusable:
            self.corrections -= 1
            if self.corrections < 0:
                raise Stopped("arguments", str(unusable)) from unusable
            words = f"Your last turn could not be used: {unusable}. Please say it again."
            self.talk.append({"role": "user", "content": words})
            return
        kept = ("role", "content", "tool_calls", "reasoning_content")
        self.talk.append({key: turn[key] for key in turn if key in kept})
        for call, function, arguments in planned:
            try:
                result = function(**arguments)
            except Exception as exception:
                result = f"{type(exception).__name__}: {exception}"
            text = result if isinstance(result, str) else json.dumps(result)
            self.talk.append({"role": "tool", "tool_call_id": call["id"], "content": text})

    def planned(self, call):
        name, written = call["function"]["name"], call["function"].get("arguments")
        if name not in self.functions:
            raise Unusable(f"there is no tool {name}")
        try:
            arguments = json.loads(written or "{}")
        except ValueError as exception:
            raise Unusable(f"the arguments of {name} are invalid: {exception}") from exception
        if not isinstance(arguments, dict):
            raise Unusable(f"the arguments of {name} are invalid: not an object")
        return call, self.functions[name], arguments


class Driver:
    def start(self):
        self.http = requests.Session()
        self.http.trust_env = False
        return started("insisting", "1", wires=["openai-chat"], modes=["sync"], limit=True)

    def stop(self):
        self.http.close()

    def run(self, case, emit):
        try:
            return Insisting(self.http, case).answer()
        except Stopped as stopped:
            return error(stopped, stopped.reason)
