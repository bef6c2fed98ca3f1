"""Types of errors: a class of the loop's own is one if it extends the document's, and only Python has them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from looptck.spec.python_errors import NO_HANDLER, of_python, raised
from looptck.values.outcome import Failed, Outcome, Value
from looptck.values.verdicts import NotApplicable


def run(outcome: Outcome) -> Any:
    """As much of a run as the check of its error asks."""
    return SimpleNamespace(outcome=outcome, replied=lambda _: None)


def failed(type: str, *bases: str) -> Failed:
    """The error of a loop."""
    return Failed("other", type, "no", bases=bases)


@pytest.mark.parametrize(
    "error", [failed("ValueError", "Exception"), failed("Missing", "ValueError"), failed("ValueError")]
)
def test_a_type_that_extends_another_is_one(error: Failed) -> None:
    """The type itself, whatever the driver says of what is above it, and one below it."""
    raised(run(error), "ValueError")


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (
            failed("LookupError", "Exception"),
            "expected ValueError, because .*no handler.*, but the loop raised LookupError: .*, which extends E",
        ),
        (Value("Done."), "expected ValueError, because .*no handler.*, but the loop returned 'Done.'"),
    ],
)
def test_any_other_end_is_told(outcome: Outcome, told: str) -> None:
    """With the type that was expected, and why."""
    with pytest.raises(AssertionError, match=told):
        raised(run(outcome), "ValueError", NO_HANDLER)


def test_a_type_of_which_nothing_more_is_known_is_not_judged() -> None:
    """It may extend the document's."""
    with pytest.raises(NotApplicable, match="does not say whether Missing extends ValueError"):
        raised(run(failed("Missing")), "ValueError")


@pytest.mark.parametrize(("language", "judged"), [("python", True), ("Python 3.13", True), ("typescript", False)])
def test_types_of_python_are_for_python(language: str, *, judged: bool) -> None:
    """Another language has none of these names."""
    implementation: Any = SimpleNamespace(started=SimpleNamespace(language=language))
    if judged:
        of_python(implementation, "ValueError")
        return

    with pytest.raises(NotApplicable, match="ValueError is a type of Python, and the loop is written in typescript"):
        of_python(implementation, "ValueError")
