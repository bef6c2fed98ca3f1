"""No fault: a loop on Chat Completions that replaces call ids by its own, and retries failed requests.

Chat Completions, messages: tool_call_id names a call of the assistant message before it, so both can be replaced.
RFC 9110, 10.2.3 (Retry-After) and the error codes guide: temporary errors are retried with growing
delays, without running tools again.
"""

# ruff: noqa: S310
# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import http.client
import json
import sys
import time
import urllib.error
import urllib.request
from itertools import count
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import LIMIT, TIMEOUT, Json, Stopped, chat_tools, chat_turn, offered, outcome, run_call, started

PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 529}
PAUSES = (0.02, 0.04, 0.08, 0.16)
LONGEST = 10.0
PREFIX = "mine-"


class Service:
    """Where the model is."""

    def __init__(self, case: Json) -> None:
        self.url = f"{case['base_url']}/chat/completions"
        self.headers = {"Content-Type": "application/json", "Authorization": f"Bearer {case['api_key']}"}

    def post(self, body: Json) -> Json:
        """Send a request, and send it again where that may help."""
        data = json.dumps(body).encode()
        for pause in PAUSES:
            try:
                return self.once(data)
            except urllib.error.HTTPError as error:
                if error.code not in PASSING:
                    raise
                time.sleep(asked_for(error, pause))
            except (urllib.error.URLError, http.client.HTTPException, ConnectionError):
                time.sleep(pause)
        return self.once(data)

    def once(self, data: bytes) -> Json:
        """Send a request once."""
        request = urllib.request.Request(self.url, data, self.headers)
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            reply: Json = json.load(response)
        return reply


def asked_for(error: urllib.error.HTTPError, pause: float) -> float:
    """Say how long to wait: as long as the service asks for, if that is not too long, or our own time."""
    wish = error.headers.get("Retry-After", "")
    if not wish.isdigit():
        return pause
    if float(wish) > LONGEST:
        raise error
    return max(pause, float(wish))


class Loop:
    """One run."""

    def __init__(self, case: Json) -> None:
        self.service, self.tools = Service(case), offered(case["tools"])
        self.body: Json = {"model": case["model"], "messages": list(case["messages"])}
        if self.tools:
            self.body["tools"] = chat_tools(self.tools)
        self.numbers = count(1)

    def run(self, limit: int) -> str:
        """Ask until the model calls nothing."""
        for _ in range(limit):
            message = self.ask()
            turn = chat_turn(message)
            if not turn["tool_calls"]:
                return message.get("content") or ""
            turn["tool_calls"] = [self.renamed(call) for call in turn["tool_calls"]]
            self.body["messages"] += [turn, *(self.result(call) for call in turn["tool_calls"])]
        raise Stopped("limit", "too many turns")

    def ask(self) -> Json:
        """Ask the model once, and return its message if that is whole."""
        reply = self.service.post(self.body)
        if not reply.get("choices"):
            raise Stopped("provider", f"no choices: {reply.get('error')}")
        choice = reply["choices"][0]
        message: Json = choice["message"]
        if message.get("refusal"):
            raise Stopped("refusal", message["refusal"])
        if choice.get("finish_reason") in ("length", "content_filter"):
            raise Stopped("truncated", f"finish reason {choice['finish_reason']}")
        if message.get("function_call"):
            raise Stopped("other", "calls of the old kind are not known here")
        return message

    def renamed(self, call: Json) -> Json:
        """Give a call our own id."""
        return call | {"id": f"{PREFIX}{call.get('id') or next(self.numbers)}"}

    def result(self, call: Json) -> Json:
        """Run a call, and write its result."""
        function = call.get("function") or {}
        text, _ = run_call(self.tools, function.get("name"), function.get("arguments"))
        return {"role": "tool", "tool_call_id": call["id"], "content": text}


class Driver:
    """Makes a run for each case."""

    def start(self) -> Json:
        return started("right-chat-renamed-ids", ["openai-chat"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        return outcome(lambda: Loop(case).run(case["options"].get("limit", LIMIT)))
