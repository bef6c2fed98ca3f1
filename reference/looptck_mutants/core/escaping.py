"""Errors that get past the caller of a run."""

from __future__ import annotations

from looptck_mutants.cells import CHAT, CHAT_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.values import Json


@breaks("no-error-escapes-its-caller", cells=CHAT + CHAT_STREAM)
class ErrorsEscape(Driver):
    """Leaves each error a second time where no caller can catch it, as a promise of its own does in JavaScript."""

    def run(self, case: Json, emit: OnText) -> Json:
        outcome = super().run(case, emit)
        return {**outcome, "escaped": True} if outcome["kind"] == "error" else outcome
