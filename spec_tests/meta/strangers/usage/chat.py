"""Loops on Chat Completions that tell how many tokens a run has used: a right one, and others with one fault each."""

# mypy: disable-error-code="import-not-found, misc, no-any-return, has-type"

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "themes"))

import chat_stream
from chat_plain import Reply
from chat_stream import Assembly, StreamedChat

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json, outcome

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens", "total_tokens": "total_tokens"}


class Heard(Assembly):
    """Keeps the latest usage of a stream."""

    usage: Json | None = None

    def on_usage(self, chunk: Json) -> None:
        self.usage = chunk.get("usage") or self.usage


class Ledger(StreamedChat):
    """Adds up the usage of its replies."""

    hears: ClassVar[type[Heard]] = Heard

    def __post_init__(self) -> None:
        super().__post_init__()
        self.records: list[Json] = []

    def assembly(self, emit: Callable[[str], None]) -> Heard:
        self.heard = self.hears(emit)
        return self.heard

    def body(self) -> Json:
        return super().body() | ({"stream_options": {"include_usage": True}} if self.case["stream"] else {})

    def ask(self) -> Reply:
        if self.case["stream"]:
            reply = super().ask()
            self.count(self.heard.usage)
            return reply
        whole = self.service.ask(self.body())
        self.count(whole.get("usage"))
        return self.read(whole)

    def read(self, whole: Json) -> Reply:
        """Read a plain reply that is there already."""
        waiting, self.service = self.service, Given(whole)
        try:
            return super().ask()
        finally:
            self.service = waiting

    def count(self, usage: Json | None) -> None:
        """Take the usage of one reply."""
        if usage:
            self.records.append(usage)

    def usage(self) -> Json:
        """Give what the run has used."""
        return {own: sum(one.get(name) or 0 for one in self.records) for own, name in NAMES.items()}


class Given:
    """A service that has answered."""

    def __init__(self, reply: Json) -> None:
        self.reply = reply

    def ask(self, body: Json) -> Json:
        return self.reply


class Driver(chat_stream.Driver):
    """Tells the usage of each run; agents may be shared, since they keep nothing."""

    loop = Ledger
    able: ClassVar[dict[str, bool]] = {"stream": True, "chunks": True, "usage": True, "shared": True}

    def begin(self, case: Json, service: object, emit: Callable[[str], None]) -> Ledger:
        """Begin the run of a case."""
        return self.loop(case, service, emit)

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        service = self.service(case)
        loop = self.begin(case, service, emit)
        try:
            end = outcome(loop.run)
        finally:
            service.close()
        return end | {"usage": loop.usage()} if end["kind"] == "value" else end


class Totals(Driver):
    """A right loop that tells only the total, as one number."""

    class loop(Ledger):
        def usage(self) -> Json:
            return {"total_tokens": super().usage()["total_tokens"]}


class Unasked(Driver):
    """Right but for a SHOULD: in streams it does not ask for the usage, and then tells zeros."""

    class loop(Ledger):
        def body(self) -> Json:
            body = super().body()
            body.pop("stream_options", None)
            return body


class DriverLast(Driver):
    """The usage of the last reply stands for the run."""

    class loop(Ledger):
        def count(self, usage: Json | None) -> None:
            if usage:
                self.records = [usage]


class DriverFirst(Driver):
    """The usage of the first reply stands for the run."""

    class loop(Ledger):
        def count(self, usage: Json | None) -> None:
            if not self.records:
                super().count(usage)


class DriverRounds(Driver):
    """Only rounds with tools are counted, and not the answer."""

    class loop(Ledger):
        def judge(self, reply: Reply) -> None:
            super().judge(reply)
            if not reply.message.get("tool_calls"):
                self.records.pop()


class DriverDouble(Driver):
    """Each reply is counted where it is read, and where it is judged."""

    class loop(Ledger):
        def judge(self, reply: Reply) -> None:
            super().judge(reply)
            self.records.append(self.records[-1])


class DriverGrowing(Driver):
    """The sum so far is added to the sum, round by round."""

    class loop(Ledger):
        def count(self, usage: Json | None) -> None:
            super().count(usage)
            self.reported = [*getattr(self, "reported", []), super().usage()]

        def usage(self) -> Json:
            return {name: sum(one[name] for one in self.reported) for name in NAMES}


class DriverDeaf(Driver):
    """A chunk without choices is skipped, and the usage with it."""

    class loop(Ledger):
        class hears(Heard):
            def on_usage(self, chunk: Json) -> None:
                if chunk.get("choices"):
                    super().on_usage(chunk)


class DriverLastChunk(Driver):
    """Only the very last chunk of a stream may have the usage."""

    class loop(Ledger):
        class hears(Heard):
            def on_usage(self, chunk: Json) -> None:
                self.usage = chunk.get("usage")


class DriverEachChunk(Driver):
    """The usages of all chunks of a stream are added up."""

    class loop(Ledger):
        class hears(Heard):
            def on_usage(self, chunk: Json) -> None:
                for name, count in (chunk.get("usage") or {}).items():
                    if isinstance(count, int):
                        self.usage = {**(self.usage or {}), name: (self.usage or {}).get(name, 0) + count}


class DriverSwapped(Driver):
    """Input and output are mistaken for each other."""

    class loop(Ledger):
        def usage(self) -> Json:
            told = super().usage()
            return told | {"input_tokens": told["output_tokens"], "output_tokens": told["input_tokens"]}


class DriverMutable(Driver):
    """One list is the default of all runs."""

    class loop(Ledger):
        everything: ClassVar[list[Json]] = []

        def __post_init__(self) -> None:
            super().__post_init__()
            self.records = self.everything


class DriverAgent(Driver):
    """An agent object adds up what all its runs have used."""

    def __init__(self) -> None:
        self.agents: dict[str, list[Json]] = {}

    def begin(self, case: Json, service: object, emit: Callable[[str], None]) -> Ledger:
        loop = super().begin(case, service, emit)
        if "shared" in case:
            loop.records = self.agents.setdefault(case["shared"], loop.records)
        return loop


class DriverEmptied(DriverAgent):
    """An agent object has one account, which each run empties when it begins."""

    def begin(self, case: Json, service: object, emit: Callable[[str], None]) -> Ledger:
        loop = super().begin(case, service, emit)
        loop.records.clear()
        return loop


class DriverSilent(Driver):
    """A run that streams tells nothing."""

    class loop(Ledger):
        def usage(self) -> Json:
            return {} if self.case["stream"] else super().usage()
