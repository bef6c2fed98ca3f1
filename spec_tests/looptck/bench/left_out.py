"""Tools that a loop which takes functions alone was not given: `dialect.tools` is ``functions``.

No function, and no schema in zod, says the parameters of each tool, and a driver leaves out those that none says. The
script calls them anyway, and what becomes of a call of an unknown tool says nothing about arguments, results or names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from looptck.bench.run import Run

WORD = "the loop takes functions alone, and no signature says the parameters of {tool}"


def of(runs: Sequence[Run], dialect: Mapping[str, Any]) -> str:
    """Why these runs say nothing: a tool that was called and never offered; empty where there is none.

    A run with a request that is refused says something all the same.
    """
    if dialect.get("tools") != "functions":
        return ""
    return next((WORD.format(tool=tool) for run in runs if (tool := _called_in_vain(run))), "")


def _called_in_vain(run: Run) -> str:
    """The tool of the case that a turn calls and that no request offers; empty where there is none."""
    if any(received.problems for received in run.received):
        return ""
    offered = {tool.name for received in run.received for tool in received.request.tools}
    missing = set(run.offered) - offered
    called = (call.tool for n, turn in sorted(run.turns.items()) if n <= len(run.received) for call in turn.calls)
    return next((tool for tool in called if tool in missing), "")
