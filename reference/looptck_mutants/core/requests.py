"""Requests that differ from the history, or lack a header: `Wire.opening`, `Wire.request`, `Wire.headers`."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx

from looptck_mutants.cells import CHAT, CHAT_STREAM, MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference.http.exchange import Exchange, Step
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Ask
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.errors import ProviderError
from looptck_reference.vocabulary.values import Json, ToolResult, Turn
from looptck_reference.wires import ChatWire, MessagesWire


@breaks(
    "prompt-reaches-the-model",
    collateral={("given-history-is-kept", "shared-agent-runs-apart"): "the instructions are sought as instructions"},
)
class SystemSpeaksAsUser(ChatWire):
    """Sends the system message as a user message."""

    def opening(self, messages: Sequence[Json]) -> list[Json]:
        return [{**message, "role": "user"} if message["role"] == "system" else message for message in messages]


@breaks("later-system-message-reaches-the-model", cells=MESSAGES)
class FirstSystemMessageOnly(MessagesWire):
    """Sends the first system message and forgets the others."""

    def instructions(self, messages: Sequence[Json]) -> list[Json]:
        return super().instructions(messages)[:1]


@breaks(
    "history-only-grows",
    collateral={
        "given-history-is-kept": "the instructions are missing behind a given history",
        "later-system-message-reaches-the-model": "the first request of a given history is taken for a second one",
        "prefix-is-the-same": "the second request begins without the instructions",
        "pruned-history-keeps-the-prompt": "the instructions are a part of the prompt",
    },
)
class SystemSpeaksOnce(ChatWire):
    """Sends the system message with the first request only."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        again = any(message["role"] == "assistant" for message in history)
        kept = [message for message in history if not (again and message["role"] == "system")]
        return super().request(agent, kept, stream=stream)


@breaks("requests-are-well-formed")
class StrangeParts(Loop):
    """Sends the text of later turns with calls in content parts of another API."""

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        if isinstance(self.wire, ChatWire) and turn.text and len(self.round_ends) > 1:
            self.history[-1]["content"] = [{"type": "output_text", "text": turn.text}]


@breaks(
    "tools-are-offered-every-time",
    collateral={
        "prefix-is-the-same": "the tools are part of what stays the same",
        "single-calls-reach-the-service": "the option comes only with tools",
        "no-request-is-refused": "the option comes only with tools",
    },
)
class ToolsOnce(ChatWire):
    """Sends the tools with the first request only."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        if any(message["role"] == "tool" for message in history):
            del body["tools"]
        return body


@breaks("requests-ask-for-the-right-mode", cells=CHAT_STREAM)
class PlainInTheEnd(ChatWire):
    """Requests no stream once two tools have run."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        results = [message for message in history if message["role"] == "tool"]
        return super().request(agent, history, stream=stream and len(results) < 2)


@breaks("model-name-is-sent")
class AnotherModel(ChatWire):
    """Uses a smaller model for requests with results."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        reads = history[-1]["role"] == "tool"
        return {**body, "model": f"{agent.model}-mini"} if reads else body


@breaks("requests-say-that-they-are-json", cells=CHAT)
class BodiesArePlainText(ChatWire):
    """Sends its JSON as plain text, which is the type that clients give to a text by themselves."""

    def headers(self, api_key: str) -> Mapping[str, str]:
        return {**super().headers(api_key), "content-type": "text/plain;charset=UTF-8"}


@breaks("key-is-sent", cells=CHAT)
class KeyWithoutItsScheme(ChatWire):
    """Sends the key alone where its scheme stands before it."""

    def headers(self, api_key: str) -> Mapping[str, str]:
        return {**super().headers(api_key), "authorization": api_key}


@breaks("api-version-is-named", cells=MESSAGES)
class NoVersionNamed(MessagesWire):
    """Leaves out the header with the version of the API."""

    def headers(self, api_key: str) -> Mapping[str, str]:
        return {"x-api-key": api_key}


class _AsksOnceMore(Exchange):
    """Asks once more where the service has failed, with a header less than before."""

    loses: str
    again = False

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        try:
            return (yield from super().ask(ask))
        except ProviderError as error:
            if error.status != httpx.codes.INTERNAL_SERVER_ERROR:
                raise
        self.again = True
        try:
            return (yield from super().ask(ask))
        finally:
            self.again = False

    def request(self, ask: Ask) -> httpx.Request:
        request = super().request(ask)
        if self.again:
            request.headers.pop(self.loses, None)
        return request


@breaks("key-is-sent", cells=CHAT)
class RetriedWithoutItsKey(_AsksOnceMore):
    """Sends a request that has failed once more without the key."""

    loses = "authorization"


@breaks("api-version-is-named", cells=MESSAGES)
class RetriedWithoutTheVersion(_AsksOnceMore):
    """Sends a request that has failed once more without the version of the API."""

    loses = "anthropic-version"


@breaks("tools-are-offered-every-time", cells=CHAT)
class FailuresTakeTheTools(Loop):
    """Offers no tools once a call has failed."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results)
        if any(one.failed for one in results):
            self.agent = replace(self.agent, tools=())
