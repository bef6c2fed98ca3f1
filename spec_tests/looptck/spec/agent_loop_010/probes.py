"""Probes: calls that show which value a path has, whatever form the loop's context has.

A probe is a call in a turn after the one under test. Its parameter refers to the path, and the toolbox records the
value that the call gets. If the path has no value, the probe never runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from looptck.bench.run import Run
from looptck.bench.solutions import activity, call, solution
from looptck.catalogue.agents import Tool
from looptck.values.turns import Turn
from looptck.values.verdicts import NotReached

DONE = solution(output="Done.")
"""The turn that ends a run."""


def tools(*names: str, latent: str = "") -> list[Tool]:
    """Tools of these names, which take an optional ``value`` and ``other`` of any type, and the tool of the probes.

    ``latent`` is the name of an additional tool that has no Activity.
    """
    every = [*names, *([latent] if latent else [])]
    return [
        *(activity(name, latent=name == latent, optional=("value", "other"), value="", other="") for name in every),
        activity("probe", at="string", value=""),
    ]


def probe(path: str, instance: str | None = None) -> dict[str, Any]:
    """The call that shows which value a call of this instance finds at a path; the path is given without its dagger.

    It has an output path, as have all calls that have to run before the run ends: a loop may not wait for others.
    """
    at = f"{path} of {instance}" if instance else path
    return call("probe", {"at": at, "value": f"†{path}"}, to=f"†probes.{path.replace('.', '_')}", instance=instance)


def probe_turn(*paths: str) -> Turn:
    """A turn that consists of probes."""
    return solution(*map(probe, paths))


def probed_values(run: Run, n: int) -> Mapping[str, Any]:
    """The values that the probes of turn ``n`` got, by path; probes that never ran are missing.

    Raises:
        NotReached: the turn was never delivered, no request followed it, or a probe ran with other parameters.
    """
    run.delivered(n)
    run.request(n + 1)
    return dict(map(_found, run.arguments_of("probe")))


def _found(given: Any) -> tuple[str, Any]:
    match given:
        case {"at": str(path), "value": value}:
            return path, value
    raise NotReached(f"a probe should get its path and the value there; it got {given!r}")
