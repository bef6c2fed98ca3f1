"""Loops on Responses with one fault each, as users of published loops have reported it."""

# mypy: disable-error-code="has-type, import-not-found, misc, no-any-return"

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "conversations"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "themes"))

import responses_plain
import responses_stateful
from responses_plain import Run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json

INVISIBLE = re.compile("[\u200b-\u200f\u2060-\u2064\ufe0e\ufe0f\ufeff]")


class DriverInvisibleSigns(responses_plain.Driver):
    """Joiners and selectors are taken out of results, so emoji and Persian words fall apart."""

    class steps(Run):
        """Takes out of results what nobody can see."""

        def result(self, call: Json) -> Json:
            said = super().result(call)
            return {**said, "output": INVISIBLE.sub("", said["output"])}


class Remembering(responses_stateful.Loop):
    """A resumed run brings the outputs of all calls that its user has decided about."""

    done: ClassVar[list[Json]] = []
    made: list[Json] = []  # noqa: RUF012  a run replaces it

    def owe(self, calls: list[Json], outputs: list[str]) -> None:
        super().owe(calls, outputs)
        if self.case.get("resume"):
            self.link.owed = [*self.done, *self.link.owed]

    def suspended(self, calls: list[Json], waiting: list[Json]) -> Json:
        outcome = super().suspended(calls, waiting)
        outcome["state"]["done"] = self.made
        return outcome

    def moved(self, reply: Json) -> None:
        self.made = [*self.made, *self.link.owed] if self.case.get("resume") else []
        super().moved(reply)


class DriverOutputsAgain(responses_stateful.Driver):
    """A run that is resumed twice sends the outputs of its first resumption again."""

    loop = Remembering

    def link(self, case: Json) -> Any:
        done: list[Json] = []
        if case.get("resume"):
            state = dict(case["resume"]["state"])
            done = state.pop("done", [])
            case["resume"] = {**case["resume"], "state": state}
        Remembering.done = done
        return super().link(case)
