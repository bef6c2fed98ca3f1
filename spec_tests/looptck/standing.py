"""Standing requirements: what every run is held to, whatever its check looks at.

A declared case asks for them as for any other requirement. In all other runs they are noticed: a finding is a result
of its own beside the verdict of the check, under the name of the check's case, and nothing is said where all is well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from looptck.drivers.protocol import AGENT_LOOP, SERVER_LOOP
from looptck.provider.server import Late
from looptck.run import Run

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
    """The first of these runs with a refused request, and what was told; None: there is none."""
    for run in runs:
        told = "\n".join(refusals(run))
        if told:
            return run, told
    return None


def came_late(late: Late) -> str:
    """What a request that came when its run was over is called."""
    return f"after the loop had given its outcome to its caller, {late.method} {late.path} came"
