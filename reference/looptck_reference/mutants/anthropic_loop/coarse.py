"""Coarse mutants: gross faults that prove the cases of what they break, one by one."""

from __future__ import annotations

from looptck_reference.mutants import gross
from looptck_reference.mutants.core import limits
from looptck_reference.mutants.mutant import Mutant

CELLS = ("anthropic-messages/*/sync",)


class ClaudeAnswersBackwards(Mutant):
    """Returns the text of the answer backwards."""

    breaks = (
        "claude-answer-is-returned",
        "claude-hosted-calls-are-never-dispatched",
        "claude-model-is-asked-until-it-answers",
    )
    cells = CELLS
    coarse = True
    loop = gross.AnswersBackwards


class ClaudeRunsThrice(Mutant):
    """Runs each tool three times."""

    breaks = (
        "claude-hosted-calls-are-never-dispatched",
        "claude-tool-use-runs-the-calls",
        "claude-no-input-is-parsed-in-pieces",
        "claude-input-is-accumulated-by-index",
    )
    cells = CELLS
    coarse = True
    loop = gross.RunsThrice


class ClaudeRunsTheFirstOnly(Mutant):
    """Runs the first call of a turn in place of the others."""

    breaks = (
        "claude-every-call-runs",
        "claude-every-call-is-answered",
    )
    cells = CELLS
    coarse = True
    loop = gross.RunsTheFirstOnly


class ClaudeHandsNothing(Mutant):
    """Hands no tool any argument."""

    breaks = (
        "claude-empty-input-is-an-object",
        "claude-input-is-accumulated",
    )
    cells = CELLS
    coarse = True
    loop = gross.HandsNothing


class ClaudeOneByOne(Mutant):
    """Runs the calls of a turn one after another."""

    breaks = ("claude-calls-run-at-the-same-time",)
    cells = CELLS
    coarse = True
    loop = gross.OneByOne


class ClaudeOneTooMany(Mutant):
    """Asks the model once more than its limit allows."""

    breaks = ("claude-limit-counts-model-calls",)
    cells = CELLS
    coarse = True
    loop = limits.OneTooMany.loop


class ClaudeForgetsIds(Mutant):
    """Sends results back under ids that nobody has given."""

    breaks = (
        "claude-every-call-is-answered",
        "claude-failed-results-are-marked",
    )
    cells = CELLS
    coarse = True
    loop = gross.ForgetsIds


class ClaudeGarblesResults(Mutant):
    """Sends one word back for every result."""

    breaks = (
        "claude-content-holds-the-value",
        "claude-every-call-is-answered",
        "claude-results-carry-their-ids",
    )
    cells = CELLS
    coarse = True
    loop = gross.GarblesResults


class ClaudeEchoesGarbled(Mutant):
    """Echoes turns with other texts and inputs."""

    breaks = (
        "claude-hosted-blocks-go-back",
        "claude-paused-turn-is-resumed",
        "claude-thinking-goes-back",
        "claude-turn-precedes-its-results",
    )
    cells = CELLS
    coarse = True
    loop = gross.EchoesGarbled


class ClaudeKeepsTheLastFour(Mutant):
    """Asks with the last four messages."""

    breaks = (
        "claude-thinking-goes-back",
        "claude-turn-precedes-its-results",
    )
    cells = CELLS
    coarse = True
    loop = gross.KeepsTheLastFour
