"""Loops whose requests are no conversations: what they send is refused, and no check may break on it."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import httpx

from looptck.driver import Case, Outcome, Started, error, started, value

PLACES = {
    "openai-chat": "chat/completions",
    "openai-responses": "responses",
    "anthropic-messages": "messages",
}


class _Sends:
    """Sends each request once, and has the service's refusal as the error of its run."""

    wire: ClassVar[Any]

    def start(self) -> Started:
        """One wire, asked in the simplest way."""
        return started("malformed", "1", wires=[self.wire], modes=["sync"])

    def run(self, case: Case, emit: Any) -> Outcome:
        """Ask once."""
        headers = {"content-type": "application/json", "authorization": "Bearer x", "anthropic-version": "2023-06-01"}
        place = f"{case['base_url']}/{PLACES[self.wire]}"
        try:
            return value(httpx.post(place, content=self.body(case), headers=headers).raise_for_status().text)
        except httpx.HTTPError as exception:
            return error(exception)

    def body(self, case: Case) -> bytes:
        """What it sends."""
        raise NotImplementedError


class ListOfRequests(_Sends):
    """Sends a list of requests, as if the service took several at a time."""

    wire = "openai-chat"

    def body(self, case: Case) -> bytes:
        return json.dumps([{"model": case["model"], "messages": case["messages"]}]).encode()


class MessagesAsTexts(_Sends):
    """Sends texts, numbers and nothing where messages and tools belong."""

    wire = "anthropic-messages"

    def body(self, case: Case) -> bytes:
        texts = [one["content"] for one in case["messages"]]
        return json.dumps(
            {"model": case["model"], "max_tokens": 9, "messages": [*texts, 7, None], "tools": [0]}
        ).encode()


class HalfARequest(_Sends):
    """Sends the first half of its JSON."""

    wire = "openai-responses"

    def body(self, case: Case) -> bytes:
        whole = json.dumps({"model": case["model"], "input": case["messages"]}).encode()
        return whole[: len(whole) // 2]
