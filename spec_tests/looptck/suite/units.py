"""Units of a run: the checks that one process has to play, since they share runs, in the order of the run.

The checks of a declared case or of a recording in a cell share its run, also with the cases that have it as their
control. The traits of a file share runs in a cell. Every other test function has a unit for each cell. Units are dealt
to the parts of a run; no verdict depends on how.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from functools import cache

from looptck.bench.cases import cases
from looptck.values.frozen import dataclass
from looptck.values.recorded import played_scenario

_CHECK = re.compile(r"(?P<file>[^:]*)::(?P<test>[^\[]*)\[(?P<row>[^/]+)/(?P<cell>[^/]+/[^/]+/[^/]+?)(/(?P<case>.*))?\]")
"""The id that pytest gives to a check or to a question."""
_SHARING = ("test_declared.py", "test_cassettes.py")
"""The files whose tests share the runs of a case."""


def unit_of(nodeid: str) -> Hashable:
    """The unit of a check or question, by its id; each id of another form is a unit."""
    found = _CHECK.fullmatch(nodeid)
    if found is None:
        return nodeid
    if found["file"].endswith(_SHARING):
        return found["cell"], _home(found["case"])
    if found["case"] is None:
        return found["file"], found["cell"]
    return found["file"], found["test"], found["cell"]


def run_of(nodeid: str) -> Hashable:
    """What the checks that share a run with this one have in common."""
    found = _CHECK.fullmatch(nodeid)
    return unit_of(nodeid) if found and found["file"].endswith(_SHARING) else nodeid


@cache
def _home(name: str) -> str:
    """The case whose run the checks of a case, or of a recording, share: its control, or the case itself."""
    case = cases().get(played_scenario(name) or name)
    controls = sorted({one["control"] for one in case.checks.values() if "control" in one}) if case else []
    return controls[0] if controls else name


def is_question(nodeid: str) -> bool:
    """Whether an id is that of a question about a trait."""
    found = _CHECK.fullmatch(nodeid)
    return found is not None and found["case"] is None


def units(nodeids: Iterable[str]) -> list[list[int]]:
    """The places of the ids in each unit, in the order of the units' first ids."""
    found: dict[Hashable, list[int]] = defaultdict(list)
    for place, nodeid in enumerate(nodeids):
        found[unit_of(nodeid)].append(place)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Shard:
    """One of ``of`` parts of a run, by its number, from 1 on."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """From ``2/3``. Raises ValueError if it is no such text."""
        number, slash, of = text.partition("/")
        if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
            raise ValueError(f"{text!r} is no shard: write 1/3, 2/3 or 3/3 for the parts of a run in three")
        return cls(int(number), int(of))

    def places(self, nodeids: Sequence[str]) -> set[int]:
        """The places of the ids that belong to it: the units are dealt one by one."""
        return {place for unit in units(nodeids)[self.number - 1 :: self.of] for place in unit}
