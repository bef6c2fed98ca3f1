"""Broad mutants: faults that act in every run, to prove each case of the requirements that they break."""

from __future__ import annotations

from looptck_mutants import broad_faults
from looptck_mutants.parts import breaks

CELLS = ("*/*/sync",)


@breaks(
    "final-text-is-returned",
    "hosted-tools-are-never-dispatched",
    "line-separators-in-text-survive",
    "loop-goes-on-until-the-model-answers",
    "missing-sequence-is-tolerated",
    "no-calls-in-any-spelling",
    "recorded-traffic-is-read-right",
    "unknown-stop-reason-ends-the-loop",
    cells=CELLS,
    broad=True,
)
class CoreAnswersBackwards(broad_faults.AnswersBackwards):
    """Returns the text of the answer reversed."""


@breaks(
    "answer-without-calls-ends-the-loop",
    "empty-answer-ends-the-loop",
    "framing-does-not-matter",
    cells=CELLS,
    broad=True,
)
class CoreNeverEnds(broad_faults.NeverEnds):
    """Asks the model again after its answer."""


@breaks(
    "call-runs-its-tool-once",
    "every-call-of-a-turn-runs",
    "hosted-tools-are-never-dispatched",
    "retry-never-reruns-a-tool",
    cells=CELLS,
    broad=True,
)
class CoreRunsThrice(broad_faults.RunsThrice):
    """Runs each tool three times."""


@breaks(
    "incomplete-call-never-runs", "stopped-turn-runs-nothing", "truncated-turn-runs-nothing", cells=CELLS, broad=True
)
class CoreRunsCutCalls(broad_faults.RunsCutCalls):
    """Runs all calls, whatever the stop reason of the turn."""


@breaks(
    "arguments-arrive-whatever-their-shape",
    "chunks-without-choices-are-skipped",
    "crlf-line-ends-are-read",
    "first-delta-names-the-call",
    "incomplete-telling-loses-no-call",
    "line-separators-in-text-survive",
    "whole-items-need-no-deltas",
    cells=CELLS,
    broad=True,
)
class CoreHandsNothing(broad_faults.HandsNothing):
    """Runs every tool without arguments."""


@breaks(
    "empty-result-is-answered",
    "every-call-is-answered",
    "results-carry-their-call-ids",
    "structured-result-reaches-the-model",
    cells=CELLS,
    broad=True,
)
class CoreForgetsIds(broad_faults.ForgetsIds):
    """Sends results with ids that do not exist."""


@breaks("results-carry-their-call-ids", "text-result-arrives-unchanged", cells=CELLS, broad=True)
class CoreGarblesResults(broad_faults.GarblesResults):
    """Sends the same word as the result of every call."""


@breaks("results-follow-their-calls", cells=CELLS, broad=True)
class CoreWordBeforeResults(broad_faults.WordBeforeResults):
    """Adds a user message between a turn and its results."""


@breaks(
    "arguments-are-echoed-as-given",
    "calls-are-echoed",
    "hosted-tools-are-echoed",
    "reasoning-is-echoed",
    "turn-is-echoed-in-order",
    cells=CELLS,
    broad=True,
)
class CoreEchoesGarbled(broad_faults.EchoesGarbled):
    """Sends turns back with changed texts and arguments."""


@breaks("turn-is-echoed-in-order", cells=CELLS, broad=True)
class CoreEchoesBackwards(broad_faults.EchoesBackwards):
    """Sends the parts of a turn back in reverse order."""
