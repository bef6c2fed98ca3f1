"""Answers that differ from the document's: the values of the dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.dialects import PROMPTY_SPEC, Dialect, FeedBack, Raise
from looptck_reference.vocabulary.values import Stop


def otherwise(**answers: Any) -> Mapping[str, Dialect]:
    """The reference's dialects, with these answers in that of the specification."""
    return {**Driver.dialects, "prompty-spec": replace(PROMPTY_SPEC, **answers)}


@breaks("spec-default-limit-is-ten")
class ElevenRounds(Driver):
    """Asks the model eleven times if the caller sets no limit."""

    dialects = otherwise(limit=11)


@breaks("spec-limit-raises-runtime-error")
class LimitOfValue(Driver):
    """Raises a ValueError at the limit."""

    dialects = otherwise(limit_error=Raise(ValueError, "Agent loop exceeded {limit} iterations"))


@breaks("spec-limit-error-has-the-documents-text")
class LimitUnsaid(Driver):
    """Leaves the limit out of the error at the limit."""

    dialects = otherwise(limit_error=Raise(RuntimeError, "Agent loop exceeded its iterations"))


@breaks("spec-calls-make-a-tool-round")
class ReasonDecides(Driver):
    """Runs the calls of a reply only if its finish reason is for calls."""

    dialects = otherwise(runs_calls_on=frozenset({Stop.CALLS}))


@breaks("spec-bad-arguments-raise")
class BadArgumentsTold(Driver):
    """Reports invalid arguments to the model and continues, instead of failing."""

    dialects = otherwise(bad_arguments=FeedBack("Error: the arguments of {name} are not JSON"))


@breaks("spec-missing-handler-raises")
class LookedUpInVain(Driver):
    """Raises a LookupError for a call without a handler."""

    dialects = otherwise(unknown_tool=Raise(LookupError, "No handler registered for tool: {name} (kind: {kind})"))


@breaks("spec-missing-handler-error-has-the-documents-text")
class KindUnsaid(Driver):
    """Leaves the kind out of the error for a missing handler."""

    dialects = otherwise(unknown_tool=Raise(ValueError, "No handler registered for tool: {name}"))


def _with_a_point(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, int) else str(value)


@breaks("spec-result-is-the-values-text")
class PointedNumbers(Driver):
    """Sends integers with a decimal point."""

    dialects = otherwise(result_text=_with_a_point)
