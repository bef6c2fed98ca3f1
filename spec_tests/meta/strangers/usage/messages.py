"""Loops on Messages that tell how many tokens a run has used: a right one, and others with one fault each."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "themes"))

import messages_stream
from messages_stream import Talk

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json, failure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from service import AsyncService

INPUTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Meter(Talk):
    """Adds up the usage of its messages; cached tokens are input too."""

    def __init__(self, case: Json, service: AsyncService, emit: Callable[[str], None]) -> None:
        super().__init__(case, service, emit)
        self.sum: Counter[str] = Counter()

    async def ask(self) -> Json:
        message = await super().ask()
        self.count(message.get("usage") or {})
        return message

    async def gathered(self, events: AsyncIterator[Json]) -> Json:
        counts: Json = {}

        async def counted() -> AsyncIterator[Json]:
            async for event in events:
                if event.get("type") == "message_start":
                    self.started(counts, event["message"].get("usage") or {})
                if event.get("type") == "message_delta":
                    self.grown(counts, event.get("usage") or {})
                yield event

        return await super().gathered(counted()) | {"usage": counts}

    def started(self, counts: Json, usage: Json) -> None:
        """Take the usage of the first event."""
        counts.update({name: count for name, count in usage.items() if count is not None})

    def grown(self, counts: Json, usage: Json) -> None:
        """Take the usage of a later event: the latest number of each kind counts."""
        counts.update({name: count for name, count in usage.items() if count is not None})

    def count(self, usage: Json) -> None:
        """Take the usage of one message."""
        self.sum["input_tokens"] += sum(usage.get(name) or 0 for name in INPUTS)
        self.sum["output_tokens"] += usage.get("output_tokens") or 0

    def usage(self) -> Json:
        return dict(self.sum)


class Driver(messages_stream.Driver):
    """Tells the usage of each run."""

    talk = Meter

    def start(self) -> Json:
        told = super().start()
        return told | {"capabilities": told["capabilities"] | {"usage": True}}

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        talks: list[Meter] = []

        class Noted(self.talk):  # type: ignore[name-defined]
            def __init__(self, *given: object) -> None:
                super().__init__(*given)
                talks.append(self)

        driver = messages_stream.Driver()
        driver.talk = Noted
        try:
            end = await driver.run_async(case, emit)
        except Exception as error:  # noqa: BLE001
            return failure(error)
        return end | {"usage": talks[0].usage()} if end["kind"] == "value" else end


class Floats(Driver):
    """A right loop that tells only the output, as a float."""

    class talk(Meter):
        def usage(self) -> Json:
            return {"output_tokens": float(self.sum["output_tokens"])}


class DriverAdding(Driver):
    """The count at the start and those of the deltas are added up."""

    class talk(Meter):
        def grown(self, counts: Json, usage: Json) -> None:
            counts["output_tokens"] = counts.get("output_tokens", 0) + (usage.get("output_tokens") or 0)


class DriverDeltas(Driver):
    """The counts of all deltas are added up."""

    class talk(Meter):
        def started(self, counts: Json, usage: Json) -> None:
            super().started(counts, {**usage, "output_tokens": 0})

        def grown(self, counts: Json, usage: Json) -> None:
            counts["output_tokens"] += usage.get("output_tokens") or 0


class DriverBoth(Driver):
    """The input is counted at the start, and once more at the end."""

    class talk(Meter):
        def grown(self, counts: Json, usage: Json) -> None:
            for name, count in usage.items():
                if isinstance(count, int):
                    counts[name] = count + (counts.get(name) or 0 if name in INPUTS else 0)


class DriverStart(Driver):
    """Only the first event is read, in which there is next to no output yet."""

    class talk(Meter):
        def grown(self, counts: Json, usage: Json) -> None:
            """Wait for nothing more."""


class DriverEnd(Driver):
    """Only the end is read, which may leave out the input."""

    class talk(Meter):
        def started(self, counts: Json, usage: Json) -> None:
            """Wait for the end."""


class DriverOnce(Driver):
    """The first of several deltas is taken for the last."""

    class talk(Meter):
        def grown(self, counts: Json, usage: Json) -> None:
            if not counts.get("ended"):
                super().grown(counts, usage)
            counts["ended"] = 1


class DriverCommon(Driver):
    """The process adds up what all runs have used."""

    class talk(Meter):
        common: ClassVar[Counter[str]] = Counter()

        def usage(self) -> Json:
            self.common.update(self.sum)
            return dict(self.common)


class DriverLast(Driver):
    """The usage of the last message stands for the run."""

    class talk(Meter):
        def count(self, usage: Json) -> None:
            self.sum.clear()
            super().count(usage)
