"""Other answers than the document's to the questions that it answers: the values of the dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.dialects import PROMPTY_SPEC, Dialect, FeedBack, Raise
from looptck_reference.loop.values import Stop


def otherwise(**answers: Any) -> Mapping[str, Dialect]:
    """The reference's dialects, with other answers to some questions of the specification's."""
    return {**Driver.dialects, "prompty-spec": replace(PROMPTY_SPEC, **answers)}


@breaks("spec-default-limit-is-ten")
class ElevenRounds(Driver):
    """Asks the model eleven times where nobody set a limit."""

    dialects = otherwise(limit=11)


@breaks("spec-limit-raises-runtime-error")
class LimitOfValue(Driver):
    """Raises a ValueError at the limit."""

    dialects = otherwise(limit_error=Raise(ValueError, "Agent loop exceeded {limit} iterations"))


@breaks("spec-limit-error-has-the-documents-text")
class LimitUnsaid(Driver):
    """Does not say in the error at the limit what the limit was."""

    dialects = otherwise(limit_error=Raise(RuntimeError, "Agent loop exceeded its iterations"))


@breaks("spec-calls-make-a-tool-round")
class ReasonDecides(Driver):
    """Runs the calls of a reply only where its finish reason speaks of calls."""

    dialects = otherwise(runs_calls_on=frozenset({Stop.CALLS}))


@breaks("spec-bad-arguments-raise")
class BadArgumentsTold(Driver):
    """Tells the model of arguments that are no JSON, and goes on."""

    dialects = otherwise(bad_arguments=FeedBack("Error: the arguments of {name} are no JSON"))


@breaks("spec-missing-handler-raises")
class LookedUpInVain(Driver):
    """Raises a LookupError for a call that nobody handles."""

    dialects = otherwise(unknown_tool=Raise(LookupError, "No handler registered for tool: {name} (kind: {kind})"))


@breaks("spec-missing-handler-error-has-the-documents-text")
class KindUnsaid(Driver):
    """Leaves the kind out of the error for a missing handler."""

    dialects = otherwise(unknown_tool=Raise(ValueError, "No handler registered for tool: {name}"))


def _with_a_point(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, int) else str(value)


@breaks("spec-result-is-the-values-text")
class PointedNumbers(Driver):
    """Sends a whole number with a point."""

    dialects = otherwise(result_text=_with_a_point)
