"""Errors of a type that Python has: judged for loops in Python, whose callers can catch the type."""

from __future__ import annotations

from looptck.bench.checks import Implementation
from looptck.bench.run import Run
from looptck.values.outcome import Failed
from looptck.values.verdicts import NotApplicable

NO_HANDLER = ", because the run has no handler for the tool"
"""The cause of an error for a call."""


def no_handler(run: Run) -> str:
    """The cause of an error for a call, where a handler of an earlier run may have run the tool."""
    return f"{NO_HANDLER} (the one that ran is of an earlier run)" if run.tools_ran else NO_HANDLER


def of_python(implementation: Implementation, type: str) -> None:
    """Raises NotApplicable if the loop is written in another language, which may have no such type."""
    if not _is_python(implementation):
        raise NotApplicable(f"{type} is a type of Python, and the loop is written in {implementation.started.language}")


def _is_python(implementation: Implementation) -> bool:
    return implementation.started.language.lower().startswith("python")


def reached_the_caller(implementation: Implementation, run: Run, type: str, message: str) -> None:
    """Assert that the caller got this error of a handler: its message, and from a loop in Python its type too.

    In other languages an error is often wrapped in another, and its words go with it.
    """
    told = f"the handler raised {type}: {message!r}, and the loop {run.outcome}"
    assert isinstance(run.outcome, Failed), told
    assert message in run.outcome.message, told
    assert run.outcome.is_a(type) or not _is_python(implementation), told


def raised(run: Run, type: str, why: str = "") -> None:
    """Assert that the caller got an error of this type, or of one that extends it; ``why`` is its cause, in words.

    Raises:
        NotApplicable: the driver does not say what the type of the error extends.
    """
    run.replied(1)

    assert isinstance(run.outcome, Failed), f"expected {type}{why}, but the loop {run.outcome}"
    if run.outcome.is_a(type):
        return
    above = ", ".join(run.outcome.bases)
    if not above:
        raise NotApplicable(
            f"the driver does not say whether {run.outcome.type} extends {type}: its error has no bases"
        )
    raise AssertionError(f"expected {type}{why}, but the loop {run.outcome}, which extends {above}")
