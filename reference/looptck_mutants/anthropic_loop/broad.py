"""Broad mutants: faults that act in every run, to prove each case of the requirements that they break."""

from __future__ import annotations

from looptck_mutants import broad_faults
from looptck_mutants.core import limits
from looptck_mutants.parts import breaks

CELLS = ("anthropic-messages/*/sync",)


@breaks(
    "claude-answer-is-returned",
    "claude-hosted-calls-are-never-dispatched",
    "claude-model-is-asked-until-it-answers",
    cells=CELLS,
    broad=True,
)
class ClaudeAnswersBackwards(broad_faults.AnswersBackwards):
    """Returns the text of the answer reversed."""


@breaks(
    "claude-hosted-calls-are-never-dispatched",
    "claude-tool-use-runs-the-calls",
    "claude-no-input-is-parsed-in-pieces",
    "claude-input-is-accumulated-by-index",
    cells=CELLS,
    broad=True,
)
class ClaudeRunsThrice(broad_faults.RunsThrice):
    """Runs each tool three times."""


@breaks("claude-every-call-runs", "claude-every-call-is-answered", cells=CELLS, broad=True)
class ClaudeRunsTheFirstOnly(broad_faults.RunsTheFirstOnly):
    """Runs the first call of a turn for each of its calls."""


@breaks("claude-empty-input-is-an-object", "claude-input-is-accumulated", cells=CELLS, broad=True)
class ClaudeHandsNothing(broad_faults.HandsNothing):
    """Runs every tool without arguments."""


@breaks("claude-calls-run-at-the-same-time", cells=CELLS, broad=True)
class ClaudeOneByOne(broad_faults.OneByOne):
    """Runs the calls of a turn one after another."""


@breaks("claude-limit-counts-model-calls", cells=CELLS, broad=True)
class ClaudeOneTooMany(limits.OneTooMany):
    """Asks the model once more than its limit allows."""


@breaks("claude-limit-counts-model-calls", cells=CELLS, broad=True)
class ClaudeEachCallCounts(limits.EachCallCounts):
    """Counts each call of a round against its limit."""


@breaks("claude-every-call-is-answered", "claude-failed-results-are-marked", cells=CELLS, broad=True)
class ClaudeForgetsIds(broad_faults.ForgetsIds):
    """Sends results with ids that do not exist."""


@breaks(
    "claude-content-holds-the-value",
    "claude-every-call-is-answered",
    "claude-results-carry-their-ids",
    cells=CELLS,
    broad=True,
)
class ClaudeGarblesResults(broad_faults.GarblesResults):
    """Sends the same word as the result of every call."""


@breaks(
    "claude-hosted-blocks-go-back",
    "claude-paused-turn-is-resumed",
    "claude-thinking-goes-back",
    "claude-turn-precedes-its-results",
    cells=CELLS,
    broad=True,
)
class ClaudeEchoesGarbled(broad_faults.EchoesGarbled):
    """Sends turns back with changed texts and inputs."""
