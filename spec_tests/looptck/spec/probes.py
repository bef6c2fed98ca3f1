"""Probes: calls that show what stands at a path, whatever a loop makes of its context.

A probe is a call of a turn behind the one that is looked at, whose parameter refers to the path: the toolbox writes
down what it was given. Where nothing stands there, it never runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from looptck.agents import Tool
from looptck.run import Run
from looptck.solutions import activity, call, solution
from looptck.turns import Turn
from looptck.verdicts import NotReached

DONE = solution(output="Done.")
"""The turn that ends a run."""


def tools(*names: str, latent: str = "") -> list[Tool]:
    """Tools of these names that take a value and another, of any type, or neither; and the tool of probes.

    ``latent`` is the name of one more, without an Activity.
    """
    every = [*names, *([latent] if latent else [])]
    return [
        *(activity(name, latent=name == latent, optional=("value", "other"), value="", other="") for name in every),
        activity("probe", at="string", value=""),
    ]


def probe(path: str, instance: str | None = None) -> dict[str, Any]:
    """The call that shows what a call of this instance finds at a path, which is written without its dagger."""
    return call("probe", {"at": f"{path} of {instance}" if instance else path, "value": f"†{path}"}, instance=instance)


def probing(*paths: str) -> Turn:
    """A turn of probes."""
    return solution(*map(probe, paths))


def probed(run: Run, n: int) -> Mapping[str, Any]:
    """What the probes of turn ``n`` were given, by their paths; without those that never ran.

    Raises:
        NotReached: that turn was never said, no request came behind it, or a probe ran with other parameters than its.
    """
    run.delivered(n)
    run.request(n + 1)
    return dict(map(_found, run.arguments_of("probe")))


def _found(given: Any) -> tuple[str, Any]:
    match given:
        case {"at": str(path), "value": value}:
            return path, value
    raise NotReached(f"a probe should be given where it looks, and what is there; it was given {given!r}")
