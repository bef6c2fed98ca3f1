"""No fault: a loop on Messages with plain replies, whose conversation is a generator of requests."""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent))

from service import Service

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import (
    LIMIT,
    Json,
    Stopped,
    blocks_back,
    messages_prompt,
    messages_tools,
    offered,
    outcome,
    run_call,
    started,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

CUT = ("max_tokens", "model_context_window_exceeded")
PAUSED = ("pause_turn", "compaction")
SEARCH: Json = {"type": "web_search_20250305", "name": "web_search"}


class Conversation:
    """Yields requests, takes replies, and returns the answer."""

    def __init__(self, case: Json) -> None:
        self.case = case
        self.tools = self.named(case["tools"])
        self.hosted = [tool.get("tool", SEARCH) for tool in case.get("hosted_tools", [])]
        self.fixed: Json = {"model": case["model"], "max_tokens": 4096, **messages_prompt(case["messages"])}
        self.history: list[Json] = self.fixed.pop("messages")

    def named(self, tools: list[Json]) -> dict[str, Json]:
        """Give the tools under the names that the service takes."""
        return offered(tools)

    def offers(self) -> list[Json]:
        """Give what stands under `tools` in the next request."""
        return [*messages_tools(self.tools), *self.hosted]

    def body(self) -> Json:
        body: Json = {**self.fixed, "messages": self.history}
        if offers := self.offers():
            body["tools"] = offers
        return body

    def goes_on(self, reply: Json) -> None:
        """Keep what the service wants to see again beside the history."""
        if isinstance(reply.get("container"), dict):
            self.fixed["container"] = reply["container"]["id"]

    def kept(self, content: list[Json]) -> list[Json]:
        """Give the blocks of a turn that go back."""
        return blocks_back(content)

    def requests(self) -> Generator[Json, Json, str]:
        """Go on until the model stops for good."""
        for _ in range(self.case["options"].get("limit", LIMIT)):
            reply = yield self.body()
            if not isinstance(reply.get("content"), list):
                raise Stopped("provider", f"no content: {reply.get('error') or reply}")
            self.goes_on(reply)
            content, reason = reply["content"], reply.get("stop_reason")
            self.judge(reply, reason)
            calls = [block for block in content if block["type"] == "tool_use"]
            if not (reason in PAUSED or (reason == "tool_use" and calls)):
                return self.answer(content)
            if turn := self.kept(content):
                self.history.append({"role": "assistant", "content": turn})
            if reason not in PAUSED:
                self.history.append({"role": "user", "content": [self.result(call) for call in calls]})
        raise Stopped("limit", "the limit of model calls is reached")

    def judge(self, reply: Json, reason: Any) -> None:
        """Stop where the turn is not whole."""
        if reason in CUT:
            raise Stopped("truncated", f"stop reason {reason}")
        if reason == "refusal":
            raise Stopped("refusal", str(reply.get("stop_details") or "the model refused"))

    def answer(self, content: list[Json]) -> str:
        return "".join(block["text"] for block in content if block["type"] == "text")

    def result(self, call: Json) -> Json:
        """Run a call, and write its block."""
        text, failed = self.outcome_of(call)
        block: Json = {"type": "tool_result", "tool_use_id": call["id"], "content": text}
        if call.get("toolset_name"):
            block["toolset_name"] = call["toolset_name"]
        return block | ({"is_error": True} if failed else {})

    def outcome_of(self, call: Json) -> tuple[str, bool]:
        return run_call(self.tools, call["name"], call.get("input"))


class Driver:
    """Drives one conversation for each case."""

    conversation: ClassVar[type[Conversation]] = Conversation
    service: ClassVar[type[Service]] = Service

    def start(self) -> Json:
        able = {"limit": True, "concurrent": True, "hosted": True, "hosted_others": True}
        return started(f"themes-{type(self).__name__}", ["anthropic-messages"], ["sync"], **able)

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        def talk() -> str:
            service = self.service(case)
            talking = self.conversation(case).requests()
            try:
                body = next(talking)
                while True:
                    body = talking.send(service.ask(body))
            except StopIteration as end:
                return end.value
            finally:
                service.close()

        return outcome(talk)
