"""No fault: a loop on Chat Completions with plain replies, made of data classes."""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent))

from service import Service

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import LIMIT, Json, Stopped, chat_tools, chat_turn, offered, outcome, run_call, started

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Reply:
    """One reply of the model: its message, and why it ends."""

    message: Json
    reason: str


@dataclass
class Chat:
    """One run: a history that only grows, and what is offered with it."""

    case: Json
    service: Service
    emit: Callable[[str], None]
    tools: dict[str, Json] = field(init=False)
    history: list[Json] = field(init=False)

    def __post_init__(self) -> None:
        self.tools = self.named(self.case["tools"])
        self.history = list(self.case["messages"])

    def named(self, tools: list[Json]) -> dict[str, Json]:
        """Give the tools under the names that the service takes."""
        return offered(tools)

    def offers(self) -> list[Json]:
        """Give what stands under `tools` in the next request."""
        return chat_tools(self.tools)

    def prompt(self) -> list[Json]:
        """Give what stands under `messages` in the next request."""
        return self.history

    def body(self) -> Json:
        body: Json = {"model": self.case["model"], "messages": self.prompt()}
        if offers := self.offers():
            body["tools"] = offers
        return body

    def ask(self) -> Reply:
        """Ask the model once."""
        reply = self.service.ask(self.body())
        if not reply.get("choices"):
            raise Stopped("provider", f"no choices: {reply.get('error') or reply}")
        choice = reply["choices"][0]
        return Reply(choice.get("message") or {}, choice.get("finish_reason") or "stop")

    def judge(self, reply: Reply) -> None:
        """Stop where the turn is not whole."""
        if reply.message.get("refusal"):
            raise Stopped("refusal", reply.message["refusal"])
        if reply.reason in ("length", "content_filter"):
            raise Stopped("truncated", f"finish reason {reply.reason}")
        if reply.message.get("function_call"):
            raise Stopped("other", "calls of the old kind are not known here")

    def turn(self, reply: Reply) -> Json:
        """Give the turn as it goes back, in which each call has an id."""
        turn = chat_turn(reply.message)
        calls = [call if call.get("id") else call | {"id": f"call_{uuid.uuid4().hex}"} for call in turn["tool_calls"]]
        return turn | {"tool_calls": calls}

    def result(self, call: Json) -> Json:
        """Run a call, and write its message."""
        function = call.get("function") or {}
        return self.told(call, run_call(self.tools, function.get("name"), function.get("arguments"))[0])

    def told(self, call: Json, text: str) -> Json:
        return {"role": "tool", "tool_call_id": call["id"], "content": text}

    def answer(self, reply: Reply) -> str:
        return reply.message.get("content") or ""

    def run(self) -> str:
        """Ask until the model calls nothing."""
        for _ in range(self.case["options"].get("limit", LIMIT)):
            reply = self.ask()
            self.judge(reply)
            turn = self.turn(reply)
            if not turn["tool_calls"]:
                return self.answer(reply)
            self.history.append(turn)
            for call in turn["tool_calls"]:
                self.history.append(self.result(call))
        raise Stopped("limit", "the limit of model calls is reached")


class Driver:
    """Makes a run for each case; what is wrong in a faulty loop stands in its own `loop` or `service`."""

    loop: ClassVar[type[Chat]] = Chat
    service: ClassVar[type[Service]] = Service
    able: ClassVar[dict[str, bool]] = {}

    def start(self) -> Json:
        able = {"limit": True, "concurrent": True, **self.able}
        return started(f"themes-{type(self).__name__}", ["openai-chat"], ["sync"], **able)

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        def talk() -> str:
            service = self.service(case)
            try:
                return self.loop(case, service, emit).run()
            finally:
                service.close()

        return outcome(talk)
