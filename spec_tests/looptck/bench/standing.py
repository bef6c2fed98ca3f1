"""Standing requirements: they apply to every run, whatever its check tests.

A declared case names them like any other requirement. In all other runs a violation becomes an additional result, under
the name of the check's case; a run without a violation adds no result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from looptck.bench.run import Run
from looptck.drivers.protocol import AGENT_LOOP, PROGRAM, SERVER_LOOP
from looptck.provider.server import Late
from looptck.values.plain import amount

REFUSED = "no-request-is-refused"
LATE = "nothing-runs-after-the-end"

_REFUSED = {
    SERVER_LOOP: "server-no-request-is-refused",
    AGENT_LOOP: "loop010-no-request-is-refused",
    PROGRAM: "program-no-request-is-refused",
}
"""The same requirement for profiles without ``core``."""
ALL_REFUSED = (REFUSED, *_REFUSED.values())
"""The requirements that a refused request fails."""


def refused(profile: str) -> str:
    """The id of the requirement that no request is refused, for the runs of a profile."""
    return _REFUSED.get(profile, REFUSED)


def refusals(run: Run) -> Iterator[str]:
    """The refusals of a run's requests as messages: of each rule the first, and how many more there are.

    That reasoning comes back without the encrypted content that nobody asked for is none of them: a loop for models
    that do not reason is right to ask for nothing, and `encrypted-reasoning-is-asked-for` tells the others.
    """
    first: dict[str, str] = {}
    more: Counter[str] = Counter()
    for received in run.received:
        for problem in received.problems:
            if problem.unasked:
                continue
            if problem.rule in first:
                more[problem.rule] += 1
            else:
                first[problem.rule] = f"request {received.n} {problem.refusal}: {problem.reported} ({problem.rule})"
    for rule, message in first.items():
        yield f"{message}, and {amount(more[rule], 'more time')}" if more[rule] else message


def first_refused(runs: Iterable[Run]) -> tuple[Run, str] | None:
    """The first run with a refused request, and its refusals as text; None if there is none."""
    for run in runs:
        found = "\n".join(refusals(run))
        if found:
            return run, found
    return None


def may_come_late(profile: str, late: Late) -> bool:
    """Whether a loop need not wait for this request: a call without an output path (008: Agent/Output)."""
    return profile == AGENT_LOOP and (late.path == "/confirm" or late.path.startswith("/tools/"))


def came_late(late: Late) -> str:
    """The description of a request that came when its run was over."""
    return f"{late.method} {late.path} came after the loop had returned its outcome to its caller"
