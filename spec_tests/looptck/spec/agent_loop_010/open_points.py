"""Classification of behaviour that no document of ``agent-loop-010`` specifies."""

from __future__ import annotations

from looptck.bench.run import Run
from looptck.bench.solutions import error_messages


def classify(run: Run) -> str:
    """What the loop did with the first Solution of a run, which breaks a rule; the value is a divergence."""
    run.delivered(1)
    if len(run.requests) > 1:
        errors = len(error_messages(run.request(2))) - len(error_messages(run.request(1)))
        return "the model is asked again, with an error" if errors else "the model is asked again"
    if run.failed:
        return "an error for the caller"
    return "the run returns nothing" if run.output is None else "it is returned"
