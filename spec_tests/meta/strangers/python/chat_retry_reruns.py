"""When a request is retried after an error of the service, the tools of the previous turn run again too.

The effects of a tool remain; a retry repeats the request only (RFC 9110, section 9.2.2).
Reported as agno-agi/agno#10366 and agentarea/agentarea#320. The fault shows only when the service fails.
"""

# ruff: noqa: S310
# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import json
import sys
import time
import urllib.error
import urllib.request
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import LIMIT, TIMEOUT, Json, Stopped, chat_tools, chat_turn, offered, outcome, run_call, started

if TYPE_CHECKING:
    from collections.abc import Callable

PASSING = {408, 409, 429, 500, 502, 503, 504, 529}


def patient(step: Callable[[Loop], Json]) -> Callable[[Loop], Json]:
    """Retry a step if the service was busy, up to three attempts."""

    @wraps(step)
    def tried(self: Loop) -> Json:
        for pause in (0.1, 0.3):
            try:
                return step(self)
            except urllib.error.HTTPError as error:
                if error.code not in PASSING:
                    raise
                time.sleep(pause)
        return step(self)

    return tried


class Loop:
    """A run: the history, and the calls that have not run yet."""

    def __init__(self, case: Json) -> None:
        self.case, self.tools = case, offered(case["tools"])
        self.history: list[Json] = list(case["messages"])
        self.pending: list[Json] = []

    def run(self) -> str:
        """Make steps until a turn has no calls."""
        for _ in range(self.case["options"].get("limit", LIMIT)):
            turn = self.step()
            if not turn["tool_calls"]:
                return turn["content"] or ""
            self.history.append(turn)
            self.pending = turn["tool_calls"]
        self.results()
        raise Stopped("limit", "too many turns")

    def results(self) -> list[Json]:
        """Run the calls of the previous turn."""
        done = []
        for call in self.pending:
            function = call.get("function") or {}
            text, _ = run_call(self.tools, function.get("name"), function.get("arguments"))
            done.append({"role": "tool", "tool_call_id": call["id"], "content": text})
        return done

    @patient
    def step(self) -> Json:
        """Run the calls of the previous turn, and ask for the next turn."""
        messages = [*self.history, *self.results()]
        body: Json = {"model": self.case["model"], "messages": messages}
        if self.tools:
            body["tools"] = chat_tools(self.tools)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.case['api_key']}"}
        request = urllib.request.Request(
            f"{self.case['base_url']}/chat/completions", json.dumps(body).encode(), headers
        )
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            reply = json.load(response)
        self.history, self.pending = messages, []
        if not reply.get("choices"):
            raise Stopped("provider", f"no choices: {reply.get('error')}")
        choice = reply["choices"][0]
        if choice["message"].get("refusal"):
            raise Stopped("refusal", choice["message"]["refusal"])
        if choice.get("finish_reason") in ("length", "content_filter"):
            raise Stopped("truncated", f"finish reason {choice['finish_reason']}")
        return chat_turn(choice["message"])


class Driver:
    """Starts a run for each case."""

    def start(self) -> Json:
        return started("chat-retry-reruns", ["openai-chat"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        return outcome(Loop(case).run)
