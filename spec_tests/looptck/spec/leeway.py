"""Leeway: what a loop of Solutions does where no document says what it is to do."""

from __future__ import annotations

from looptck.run import Run
from looptck.solutions import told_errors


def led_to(run: Run) -> str:
    """What became of the first Solution of a run, which does not keep to the rules, in words for `diverges`."""
    run.delivered(1)
    if len(run.requests) > 1:
        errors = len(told_errors(run.request(2))) - len(told_errors(run.request(1)))
        return "the model is asked again, and told an error" if errors else "the model is asked again"
    if run.failed:
        return "an error for the caller"
    return "the run returns nothing" if run.output is None else "it is returned"
