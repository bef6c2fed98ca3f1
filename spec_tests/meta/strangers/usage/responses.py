"""Loops on Responses that tell how many tokens a run has used: a right one, and others with one fault each."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "themes"))

import responses_plain
from responses_plain import Run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json, outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from service import Service

NAMES = ("input_tokens", "output_tokens")


class Bill(Run):
    """Adds up the usage of its responses."""

    def __init__(self, case: Json, service: Service) -> None:
        super().__init__(case, service)
        self.used = dict.fromkeys(NAMES, 0)

    def output(self, reply: Json) -> list[Json]:
        self.charge(reply.get("usage") or {}, super().output(reply))
        return super().output(reply)

    def charge(self, usage: Json, output: list[Json]) -> None:
        """Take the usage of one response."""
        for name in NAMES:
            self.used[name] += usage.get(name) or 0

    def usage(self) -> Json:
        return self.used


class Driver(responses_plain.Driver):
    """Tells the usage of each run."""

    steps = Bill

    def start(self) -> Json:
        told = super().start()
        return told | {"capabilities": told["capabilities"] | {"usage": True}}

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        service = self.service(case)
        run = self.steps(case, service)
        try:
            end = outcome(run.answer)
        finally:
            service.close()
        return end | {"usage": run.usage()} if end["kind"] == "value" else end


class DriverLast(Driver):
    """The usage of the last response stands for the run."""

    class steps(Bill):
        def charge(self, usage: Json, output: list[Json]) -> None:
            self.used = {name: usage.get(name) or 0 for name in NAMES}


class DriverLargest(Driver):
    """The largest input stands for all of them."""

    class steps(Bill):
        def charge(self, usage: Json, output: list[Json]) -> None:
            """Each request repeats the history, so only what is new in it is taken for input."""
            before = self.used["input_tokens"]
            super().charge(usage, output)
            self.used["input_tokens"] = max(before, usage.get("input_tokens") or 0)


class DriverOpen(Driver):
    """The account is never closed: a run begins with what those before it have used."""

    class steps(Bill):
        account: ClassVar[dict[str, int]] = {}

        def __init__(self, case: Json, service: Service) -> None:
            super().__init__(case, service)
            self.used = self.account
            for name in NAMES:
                self.used.setdefault(name, 0)
