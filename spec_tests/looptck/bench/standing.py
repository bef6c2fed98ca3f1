"""Standing requirements: those that every run is held to, whatever its check is about.

A declared case names them like any other requirement. In all other runs a violation becomes a result of its own, under
the name of the check's case, in addition to the verdict of the check; a run without one adds no result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from looptck.bench.run import Run
from looptck.drivers.protocol import AGENT_LOOP, SERVER_LOOP
from looptck.provider.server import Late

REFUSED = "no-request-is-refused"
LATE = "nothing-runs-after-the-end"

_REFUSED = {SERVER_LOOP: "server-no-request-is-refused", AGENT_LOOP: "loop010-no-request-is-refused"}
"""The same for loops that play no case of ``core``."""


def refused(profile: str) -> str:
    """The id of the requirement that no request is refused, for the runs of a profile."""
    return _REFUSED.get(profile, REFUSED)


def refusals(run: Run) -> Iterator[str]:
    """What the service has against the requests of a run, in order."""
    for received in run.received:
        for problem in received.problems:
            yield f"request {received.n} is refused at {problem.pointer}: {problem.message} ({problem.rule})"


def first_refused(runs: Iterable[Run]) -> tuple[Run, str] | None:
    """The first of these runs with a refused request, and the refusals in words; None: there is none."""
    for run in runs:
        found = "\n".join(refusals(run))
        if found:
            return run, found
    return None


def came_late(late: Late) -> str:
    """The description of a request that came when its run was over."""
    return f"{late.method} {late.path} came after the loop had given its outcome to its caller"
