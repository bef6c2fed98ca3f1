"""Right loops on Chat Completions that tell their caller of calls and results."""

# ruff: noqa: D101
# mypy: disable-error-code="import-not-found, misc, no-any-return, has-type, var-annotated"

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "themes"))

import chat_stream
from chat_plain import Reply
from chat_stream import StreamedChat

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import LIMIT, Json, Stopped, find, read_arguments, run_call

Emit = Callable[[Any], None]


class Teller(StreamedChat):
    """Tells each call before it runs, each result when it is there, and the end."""

    before: ClassVar[dict[str, list[Json]]] = {}
    """What was said in the conversations so far."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.history = [*self.before.get(self.talk, []), *self.history]

    @property
    def talk(self) -> str:
        return self.case.get("conversation", "")

    def called(self, call: Json) -> None:
        function = call.get("function") or {}
        arguments = {"arguments": function.get("arguments", "")}
        self.emit({"kind": "call", "call_id": call["id"], "name": function.get("name", ""), **arguments})

    def resulted(self, call: Json, text: str, failed: bool) -> None:
        self.emit({"kind": "result", "call_id": call["id"], "result": text, "failed": failed})

    def over(self, how: str) -> None:
        self.emit({"kind": "end", "how": how})

    def perform(self, call: Json) -> tuple[str, bool]:
        """Run one call: what the model reads, and whether it failed."""
        function = call.get("function") or {}
        return run_call(self.tools, function.get("name"), function.get("arguments"))

    def one(self, call: Json) -> Json:
        """Run a call and tell of it; give the message of its result."""
        self.called(call)
        text, failed = self.perform(call)
        self.resulted(call, text, failed)
        return self.told(call, text)

    def round(self, calls: list[Json]) -> list[Json]:
        """Run the calls of a turn; give the messages of their results."""
        return [self.one(call) for call in calls]

    def go(self) -> str:
        for _ in range(self.case["options"].get("limit", LIMIT)):
            reply = self.ask()
            self.judge(reply)
            turn = self.turn(reply)
            if not turn["tool_calls"]:
                self.history.append({"role": "assistant", "content": self.answer(reply)})
                return self.answer(reply)
            self.history.append(turn)
            self.history += self.round(turn["tool_calls"])
        raise Stopped("limit", "the limit of model calls is reached")

    def run(self) -> str:
        try:
            text = self.go()
        except Exception:
            self.over("error")
            raise
        self.over("value")
        if self.talk:
            self.before[self.talk] = self.history
        return text


class Driver(chat_stream.Driver):
    """Right: a call is told when its turn comes, and its result before the next call is told."""

    loop = Teller
    able: ClassVar[dict[str, bool]] = {
        "stream": True, "chunks": True, "events": True, "shared": True, "conversations": True,
    }  # fmt: skip


# -- right in other ways ----------------------------------------------------------------------------------------------


class Owning(Driver):
    class loop(Teller):
        """Its events have ids of their own; arguments come as an object, results without a mark of failure; no end."""

        def one(self, call: Json) -> Json:
            self.id = str(uuid.uuid4())
            return super().one(call)

        def called(self, call: Json) -> None:
            function = call.get("function") or {}
            try:
                arguments = {"arguments": read_arguments(function.get("arguments"))}
            except ValueError:
                arguments = {}
            self.emit({"kind": "call", "call_id": self.id, "name": function.get("name", ""), **arguments})

        def resulted(self, call: Json, text: str, failed: bool) -> None:
            self.emit({"kind": "result", "call_id": self.id, "result": text})

        def over(self, how: str) -> None:
            """Its caller sees the end by itself."""


class Hooking(Driver):
    class loop(Teller):
        """Tells of tools that run, and of no call that does not."""

        def runs(self, call: Json) -> bool:
            function = call.get("function") or {}
            try:
                return (
                    find(self.tools, function.get("name")) is not None
                    and read_arguments(function.get("arguments")) is not None
                )
            except ValueError:
                return False

        def called(self, call: Json) -> None:
            if self.runs(call):
                super().called(call)

        def resulted(self, call: Json, text: str, failed: bool) -> None:
            if self.runs(call):
                super().resulted(call, text, failed)


class Rounds(Teller):
    """Tells all calls of a turn, then runs them, and tells all results; the end without saying how."""

    def round(self, calls: list[Json]) -> list[Json]:
        for call in calls:
            self.called(call)
        ends = [self.perform(call) for call in calls]
        for call, (text, failed) in zip(calls, ends, strict=True):
            self.resulted(call, text, failed)
        return [self.told(call, text) for call, (text, _) in zip(calls, ends, strict=True)]

    def over(self, how: str) -> None:
        self.emit({"kind": "end"})


class InRounds(Driver):
    loop = Rounds


class Nameless(Driver):
    """Right: no ids, and each call is told with its result before the next one."""

    class loop(Teller):
        """Its hooks get a tool's name and the value that it gave."""

        def called(self, call: Json) -> None:
            self.emit({"kind": "call", "call_id": None, "name": call["function"]["name"]})

        def resulted(self, call: Json, text: str, failed: bool) -> None:
            self.emit({"kind": "result", "call_id": None, "result": text})


class Ending(Driver):
    class loop(Teller):
        """Ends a run in which a tool has failed, with its error."""

        def one(self, call: Json) -> Json:
            self.called(call)
            text, failed = self.perform(call)
            if failed:
                raise Stopped("tool", text)
            self.resulted(call, text, failed)
            return self.told(call, text)


class EmptyPieces(Driver):
    """Right: the empty piece with which a service begins a turn is handed on, also that of a turn with calls."""

    class loop(Teller):
        def called(self, call: Json) -> None:
            self.emit("")
            super().called(call)


class InStreams(Teller):
    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.case["stream"]:
            self.emit = lambda _: None


class Streaming(Driver):
    """Right: only the way to ask for streams has events, which the driver says."""

    loop = InStreams

    def start(self) -> Json:
        return super().start() | {"dialect": {"events": "streams"}}


class Cut(Driver):
    """Of taste: the call of a turn that was cut is told too, and nothing after it."""

    class loop(Teller):
        def judge(self, reply: Reply) -> None:
            for call in reply.message.get("tool_calls") or ():
                self.called(call)
            super().judge(reply)

        def one(self, call: Json) -> Json:
            text, failed = self.perform(call)
            self.resulted(call, text, failed)
            return self.told(call, text)


class Wrapping(Driver):
    """Right: what is told of a result is JSON with its text, and a long one is shortened and says so."""

    class loop(Teller):
        def resulted(self, call: Json, text: str, failed: bool) -> None:
            short = text if len(text) < 200 else f"{text[:200]} … ({len(text)} characters)"
            super().resulted(call, json.dumps({"ok": not failed, "content": [{"type": "text", "text": short}]}), failed)


class Marking(Driver):
    """Right: of a failed call the caller is told that it has failed, and not how."""

    class loop(Teller):
        def resulted(self, call: Json, text: str, failed: bool) -> None:
            if failed:
                self.emit({"kind": "result", "call_id": call["id"], "failed": True})
            else:
                super().resulted(call, text, failed)
