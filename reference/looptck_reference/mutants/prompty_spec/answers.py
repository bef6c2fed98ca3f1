"""Other answers than the document's to the questions that it answers: the values of the dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from looptck_reference.dialects import PROMPTY_SPEC, Dialect, FeedBack, Raise
from looptck_reference.driver import Driver
from looptck_reference.mutants.mutant import Mutant
from looptck_reference.values import Stop


def otherwise(**answers: Any) -> Mapping[str, Dialect]:
    """The reference's dialects, with other answers to some questions of the specification's."""
    return {**Driver.dialects, "prompty-spec": replace(PROMPTY_SPEC, **answers)}


class ElevenRounds(Mutant):
    """Asks the model eleven times where nobody set a limit: `spec-default-limit-is-ten`."""

    breaks = ("spec-default-limit-is-ten",)
    dialects = otherwise(limit=11)


class LimitOfValue(Mutant):
    """Raises a ValueError at the limit: `spec-limit-raises-runtime-error`."""

    breaks = ("spec-limit-raises-runtime-error",)
    dialects = otherwise(limit_error=Raise(ValueError, "Agent loop exceeded {limit} iterations"))


class LimitUnsaid(Mutant):
    """Does not say in the error at the limit what the limit was: `spec-limit-error-has-the-documents-text`."""

    breaks = ("spec-limit-error-has-the-documents-text",)
    dialects = otherwise(limit_error=Raise(RuntimeError, "Agent loop exceeded its iterations"))


class ReasonDecides(Mutant):
    """Runs the calls of a reply only where its finish reason speaks of calls: `spec-calls-make-a-tool-round`."""

    breaks = ("spec-calls-make-a-tool-round",)
    dialects = otherwise(runs_calls_on=frozenset({Stop.CALLS}))


class BadArgumentsTold(Mutant):
    """Tells the model of arguments that are no JSON, and goes on: `spec-bad-arguments-raise`."""

    breaks = ("spec-bad-arguments-raise",)
    dialects = otherwise(bad_arguments=FeedBack("Error: the arguments of {name} are no JSON"))


class LookedUpInVain(Mutant):
    """Raises a LookupError for a call that nobody handles: `spec-missing-handler-raises`."""

    breaks = ("spec-missing-handler-raises",)
    dialects = otherwise(unknown_tool=Raise(LookupError, "No handler registered for tool: {name} (kind: {kind})"))


class KindUnsaid(Mutant):
    """Leaves the kind out of the error for a missing handler: `spec-missing-handler-error-has-the-documents-text`."""

    breaks = ("spec-missing-handler-error-has-the-documents-text",)
    dialects = otherwise(unknown_tool=Raise(ValueError, "No handler registered for tool: {name}"))


def _with_a_point(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, int) else str(value)


class PointedNumbers(Mutant):
    """Sends a whole number with a point: `spec-result-is-the-values-text`."""

    breaks = ("spec-result-is-the-values-text",)
    dialects = otherwise(result_text=_with_a_point)
