"""Loops on Chat Completions that tell their caller of calls and results, with one fault each."""

# ruff: noqa: D101
# mypy: disable-error-code="import-not-found, misc, no-any-return, has-type, var-annotated"

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent))

from chat import Driver, Emit, InStreams, Rounds, Teller
from chat_plain import Reply
from chat_stream import Assembly
from handlers import LIMIT, Json


class DriverUndeclared(Driver):
    """Only streams have events, and nobody says so."""

    loop = InStreams


class DriverFailedSilent(Driver):
    """No result is told where a call has failed."""

    class loop(Teller):
        def resulted(self, call: Json, text: str, failed: bool) -> None:
            if not failed:
                super().resulted(call, text, failed)


class DriverRaisingSilent(Driver):
    """No result is told where the tool has raised."""

    class loop(Teller):
        def resulted(self, call: Json, text: str, failed: bool) -> None:
            if not (failed and "there is no tool" not in text and "cannot be read" not in text):
                super().resulted(call, text, failed)


class DriverUnknownOpen(Driver):
    """The call of an unknown tool is told, and never its result."""

    class loop(Teller):
        def resulted(self, call: Json, text: str, failed: bool) -> None:
            if "there is no tool" not in text:
                super().resulted(call, text, failed)


class DriverUnreadableOpen(Driver):
    """A call whose arguments cannot be read is told, and never its result."""

    class loop(Teller):
        def resulted(self, call: Json, text: str, failed: bool) -> None:
            if "cannot be read" not in text:
                super().resulted(call, text, failed)


class DriverLastRound(Driver):
    """Results are told once the model has replied to them."""

    class loop(Teller):
        def ask(self) -> Reply:
            reply = super().ask()
            for event in self.__dict__.pop("late", []):
                self.emit(event)
            return reply

        def resulted(self, call: Json, text: str, failed: bool) -> None:
            event = {"kind": "result", "call_id": call["id"], "result": text, "failed": failed}
            self.__dict__.setdefault("late", []).append(event)


class DriverTwice(Driver):
    """In streams each call is told when its stream has ended, and again before it runs."""

    class loop(Teller):
        class assembly(Assembly):
            def on_finish(self, reason: str) -> None:
                super().on_finish(reason)
                for call in self.calls:
                    function = call.get("function") or {}
                    event = {"kind": "call", "call_id": call["id"], "name": function.get("name", "")}
                    self.emit(event | {"arguments": function.get("arguments", "")})


class EachDeltaTeller(Teller):
    class assembly(Assembly):
        def on_call_piece(self, piece: Json) -> None:
            super().on_call_piece(piece)
            call = self.calls[-1]
            function = call.get("function") or {}
            event = {"kind": "call", "call_id": call["id"], "name": function.get("name", "")}
            self.emit(event | {"arguments": function.get("arguments", "")})

    def called(self, call: Json) -> None:
        if not self.case["stream"]:
            super().called(call)


class DriverEachDelta(Driver):
    """In streams each piece of a call tells it again, with the arguments so far."""

    loop = EachDeltaTeller


class DriverFirstPiece(Driver):
    """In streams a call is told with the arguments of its first piece."""

    class loop(EachDeltaTeller):
        class assembly(Assembly):
            def on_call_piece(self, piece: Json) -> None:
                known = len(self.calls)
                super().on_call_piece(piece)
                if len(self.calls) > known:
                    call = self.calls[-1]
                    function = call.get("function") or {}
                    event = {"kind": "call", "call_id": call["id"], "name": function.get("name", "")}
                    self.emit(event | {"arguments": function.get("arguments", "")})


class DriverAfter(Driver):
    """A call is told when its tool has ended."""

    class loop(Teller):
        def one(self, call: Json) -> Json:
            text, failed = self.perform(call)
            self.called(call)
            self.resulted(call, text, failed)
            return self.told(call, text)


class DriverLastId(Driver):
    """Results are told under the id of the last call of their turn."""

    class loop(Teller):
        def round(self, calls: list[Json]) -> list[Json]:
            self.last = calls[-1]
            return super().round(calls)

        def resulted(self, call: Json, text: str, failed: bool) -> None:
            super().resulted(self.last, text, failed)


class DriverByName(Driver):
    """Open calls are known by the name of their tool, so that of two the latter takes both results."""

    class loop(Rounds):
        def called(self, call: Json) -> None:
            self.open = getattr(self, "open", {})
            self.open[call["function"]["name"]] = call
            super().called(call)

        def resulted(self, call: Json, text: str, failed: bool) -> None:
            super().resulted(self.open[call["function"]["name"]], text, failed)


class DriverNamesAlone(Driver):
    """Tells the names of all calls of a turn, and then the texts of all results."""

    class loop(Rounds):
        def called(self, call: Json) -> None:
            self.emit({"kind": "call", "call_id": None, "name": call["function"]["name"]})

        def resulted(self, call: Json, text: str, failed: bool) -> None:
            self.emit({"kind": "result", "call_id": None, "result": text})


class DriverNamesAtOnce(DriverNamesAlone):
    """Runs the calls of a turn at the same time, and tells names and results as they come."""

    class loop(DriverNamesAlone.loop):
        def round(self, calls: list[Json]) -> list[Json]:
            with ThreadPoolExecutor(max(1, len(calls))) as pool:
                return list(pool.map(self.one, calls))


class DriverStale(Driver):
    """From the second call on the result of the one before is told."""

    class loop(Teller):
        latest = ""

        def resulted(self, call: Json, text: str, failed: bool) -> None:
            super().resulted(call, self.latest or text, failed)
            self.latest = text


class DriverEmpty(Driver):
    """The result that is told is an empty text."""

    class loop(Teller):
        def resulted(self, call: Json, text: str, failed: bool) -> None:
            super().resulted(call, "", failed)


class DriverTwoEnds(Driver):
    """The end is told twice."""

    class loop(Teller):
        def run(self) -> str:
            try:
                return super().run()
            finally:
                self.over("value")


class DriverLimitSilent(Driver):
    """The end of a run that reaches its limit is told by its error alone."""

    class loop(Teller):
        def over(self, how: str) -> None:
            asked = sum(1 for one in self.history if one["role"] == "assistant")
            if how == "value" or asked < self.case["options"].get("limit", LIMIT):
                super().over(how)


class DriverFailedAsValue(Driver):
    """A run that has failed is told as one that has its answer."""

    class loop(Teller):
        def over(self, how: str) -> None:
            super().over("value")


class DriverEachRound(Driver):
    """Each round tells an end of the run."""

    class loop(Teller):
        def round(self, calls: list[Json]) -> list[Json]:
            found = super().round(calls)
            self.over("value")
            return found


class DriverReplaying(Driver):
    """The second run of a conversation tells the calls of the first again."""

    class loop(Teller):
        def __post_init__(self) -> None:
            super().__post_init__()
            for message in self.history:
                for call in message.get("tool_calls") or ():
                    self.called(call)
                if message["role"] == "tool":
                    self.resulted({"id": message["tool_call_id"]}, message["content"], False)


class DriverListening(Driver):
    """The listeners of all runs that are under way hear the events of each."""

    class loop(Teller):
        listeners: ClassVar[list[Emit]] = []

        def __post_init__(self) -> None:
            super().__post_init__()
            self.listeners.append(self.emit)
            own = self.emit
            self.emit = lambda told: own(told) if isinstance(told, str) else [hear(told) for hear in self.listeners]

        def run(self) -> str:
            try:
                return super().run()
            finally:
                self.listeners.pop(0)


class DriverLate(Driver):
    """All results are told when the run is over."""

    class loop(Teller):
        def __post_init__(self) -> None:
            super().__post_init__()
            self.kept: list[Json] = []

        def resulted(self, call: Json, text: str, failed: bool) -> None:
            self.kept.append({"kind": "result", "call_id": call["id"], "result": text, "failed": failed})

        def over(self, how: str) -> None:
            for event in self.kept:
                self.emit(event)
            super().over(how)


class DriverFailsTwice(Driver):
    """A failure is told where it is caught, and again where the call ends."""

    class loop(Teller):
        def resulted(self, call: Json, text: str, failed: bool) -> None:
            super().resulted(call, text, failed)
            if failed:
                super().resulted(call, "failed", failed)


class DriverOncePerName(Driver):
    """Only the first call of each tool is told."""

    class loop(Teller):
        def called(self, call: Json) -> None:
            self.known = getattr(self, "known", set())
            if call["function"]["name"] not in self.known:
                self.known.add(call["function"]["name"])
                super().called(call)


class DriverMarked(Driver):
    """The mark of a failure is upside down."""

    class loop(Teller):
        def resulted(self, call: Json, text: str, failed: bool) -> None:
            super().resulted(call, text, not failed)


class DriverByPlace(Driver):
    """The call of a result is looked up by its place in the turn, among all calls of the run."""

    class loop(Teller):
        def round(self, calls: list[Json]) -> list[Json]:
            self.known = [*self.__dict__.get("known", []), *calls]
            self.places = iter(self.known)
            return super().round(calls)

        def resulted(self, call: Json, text: str, failed: bool) -> None:
            super().resulted(next(self.places), text, failed)
