"""Coarse mutants: gross faults that prove the cases of what they break, one by one."""

from __future__ import annotations

from looptck_reference.mutants import gross
from looptck_reference.mutants.mutant import Mutant

CELLS = ("*/*/sync",)


class CoreAnswersBackwards(Mutant):
    """Returns the text of the answer backwards."""

    breaks = (
        "final-text-is-returned",
        "hosted-tools-are-never-dispatched",
        "line-separators-in-text-survive",
        "loop-goes-on-until-the-model-answers",
        "missing-sequence-is-tolerated",
        "no-calls-in-any-spelling",
        "recorded-traffic-is-read-right",
        "unknown-stop-reason-ends-the-loop",
    )
    cells = CELLS
    coarse = True
    loop = gross.AnswersBackwards


class CoreNeverEnds(Mutant):
    """Asks the model to go on when it has answered."""

    breaks = (
        "answer-without-calls-ends-the-loop",
        "empty-answer-ends-the-loop",
        "framing-does-not-matter",
    )
    cells = CELLS
    coarse = True
    loop = gross.NeverEnds


class CoreRunsThrice(Mutant):
    """Runs each tool three times."""

    breaks = (
        "call-runs-its-tool-once",
        "every-call-of-a-turn-runs",
        "hosted-tools-are-never-dispatched",
        "retry-never-reruns-a-tool",
    )
    cells = CELLS
    coarse = True
    loop = gross.RunsThrice


class CoreRunsCutCalls(Mutant):
    """Runs whatever calls it finds."""

    breaks = (
        "incomplete-call-never-runs",
        "stopped-turn-runs-nothing",
        "truncated-turn-runs-nothing",
    )
    cells = CELLS
    coarse = True
    loop = gross.RunsCutCalls


class CoreHandsNothing(Mutant):
    """Hands no tool any argument."""

    breaks = (
        "arguments-arrive-whatever-their-shape",
        "chunks-without-choices-are-skipped",
        "crlf-line-ends-are-read",
        "first-delta-names-the-call",
        "incomplete-telling-loses-no-call",
        "line-separators-in-text-survive",
        "whole-items-need-no-deltas",
    )
    cells = CELLS
    coarse = True
    loop = gross.HandsNothing


class CoreForgetsIds(Mutant):
    """Sends results back under ids that nobody has given."""

    breaks = (
        "empty-result-is-answered",
        "every-call-is-answered",
        "results-carry-their-call-ids",
        "structured-result-reaches-the-model",
    )
    cells = CELLS
    coarse = True
    loop = gross.ForgetsIds


class CoreGarblesResults(Mutant):
    """Sends one word back for every result."""

    breaks = (
        "results-carry-their-call-ids",
        "text-result-arrives-unchanged",
    )
    cells = CELLS
    coarse = True
    loop = gross.GarblesResults


class CoreWordBeforeResults(Mutant):
    """Says something between a turn and its results."""

    breaks = ("results-follow-their-calls",)
    cells = CELLS
    coarse = True
    loop = gross.WordBeforeResults


class CoreEchoesGarbled(Mutant):
    """Echoes turns with other texts and arguments."""

    breaks = (
        "arguments-are-echoed-as-given",
        "calls-are-echoed",
        "hosted-tools-are-echoed",
        "reasoning-is-echoed",
        "turn-is-echoed-in-order",
    )
    cells = CELLS
    coarse = True
    loop = gross.EchoesGarbled


class CoreEchoesBackwards(Mutant):
    """Echoes the parts of a turn backwards."""

    breaks = ("turn-is-echoed-in-order",)
    cells = CELLS
    coarse = True
    loop = gross.EchoesBackwards
