"""Plays a run in several processes at a time, over pytest-xdist: each has a provider and a driver of its own.

The processes deal the units of the run between them (see ``suite.units``). This process plays nothing: it takes in what
the others come to, and the record is in the end what one process would have written.
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import orjson
import pytest
from xdist.scheduler import LoadScheduling

from looptck.drivers import DriverFault
from looptck.guard import playing
from looptck.suite.parts import take, take_faults
from looptck.suite.record import Record
from looptck.suite.session import Options
from looptck.suite.units import is_question, units
from looptck.suite.worker import KEY, WHY, told
from looptck.values.spent import Spent
from looptck.values.verdicts import Result

CRASHED = "???"
"""The phase of a check in the report that pytest-xdist makes of one whose worker has crashed."""
PENDING = 2
"""How many checks a worker has to do at least: it ends the one when it knows the next."""


class Workers:
    """The pytest plugin of the process that deals."""

    def __init__(self, record: Record, options: Options) -> None:
        self._record = record
        self._options = options
        self._parts: dict[str, dict[str, Any]] = {}
        """What the workers have come to so far, or in all, by their names."""
        self._ids: Sequence[str] = ()
        self._crashed = 0
        """How many workers have crashed."""
        self._crashes: list[str] = []
        """During which checks."""
        self.why: str | None = None
        """Why a worker could not play at all."""

    @pytest.hookimpl
    def pytest_xdist_setupnodes(self, config: pytest.Config) -> None:
        """Send no files to other hosts: looptck is installed there, at the same place."""
        config.pluginmanager.getplugin("dsession").nodemanager.roots = []

    @pytest.hookimpl
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker what to play."""
        node.workerinput[KEY] = told(self._options, tempfile.tempdir)

    @pytest.hookimpl
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> LoadScheduling:
        """Deal units in place of single tests."""
        return _Dealing(config, log)

    @pytest.hookimpl
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Note what there is to play, in the order in which one process would."""
        self._ids = ids
        self._record.questions = sum(map(is_question, ids))
        self._record.checks = len(ids) - self._record.questions
        playing.note("chosen", checks=self._record.checks)

    def in_order(self, junit: str) -> str:
        """JUnit XML with the test cases in the order in which one process would play."""
        places = {(Path(id.partition("::")[0]).stem, id.rpartition("::")[2]): n for n, id in enumerate(self._ids)}
        root = ET.fromstring(junit)  # noqa: S314  pytest has written it
        for suite in root.iter("testsuite"):
            suite[:] = sorted(suite, key=lambda case: places.get(_named(case), len(places)))
        return ET.tostring(root, encoding="unicode", xml_declaration=True)

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take in what a worker has added, or the check in which one has crashed."""
        if report.when == CRASHED:
            self._crashes.append(f" during {report.nodeid.partition('[')[2].removesuffix(']')}")
        if (text := getattr(report, KEY, None)) is None:
            return
        news = orjson.loads(text)
        part = self._parts.setdefault(report.node.gateway.id, {"results": [], "findings": [], "answers": []})
        before = len(part["results"])
        part["results"] += news["results"]
        part["findings"] += [one | {"result": one["result"] + before} for one in news["findings"]]
        part["answers"] += news["answers"]
        part["judged"] = news["judged"]
        self._record.judged = sum(one.get("judged", 0) for one in self._parts.values())
        for one in news["results"]:
            self._record.add(Result(**one), noticed=True)  # the worker has counted it

    @pytest.hookimpl
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Take in the whole of a worker that has ended, or note that it has crashed."""
        output = getattr(node, "workeroutput", {})
        if (why := output.get(WHY)) is not None:
            self.why = why
        elif KEY in output:
            self._parts[node.gateway.id] = orjson.loads(output[KEY])
        elif error is not None:
            self._crashed += 1

    def finish(self) -> None:
        """Put the parts together, in place of what came in on the way."""
        record = self._record
        for during in self._crashes or [""] * (self._crashed > 0):
            detail = f"a process of the run that ran {record.driver} has ended{during}"
            record.faults.append(DriverFault("crashed", detail))
        record.results.clear()
        record.spent = Spent()
        for part in self._parts.values():
            take(record, part)
            take_faults(record, {"faults": part.get("faults", [])})
            record.spent.add(Spent.of(part["spent"]) if "spent" in part else Spent())
            record.sampled += [tuple(one) for one in part.get("sampled", ())]
        record.judged = sum(one["judged"] for one in self._parts.values())
        whole = [part for part in self._parts.values() if "offered" in part]
        for part in whole[:1]:
            record.offered = part["offered"]
            record.left_out = [tuple(one) for one in part["left_out"]]


def _named(case: ET.Element) -> tuple[str, str]:
    """The module and the name of a test case in JUnit XML."""
    return case.get("classname", "").rpartition(".")[2], case.get("name", "")


class _Dealing(LoadScheduling):  # type: ignore[misc,unused-ignore]
    """Sends whole units to whoever has little to do."""

    _units: deque[list[int]]

    collection: list[str] | None

    def schedule(self) -> None:
        """Make the units, once all workers have told what there is to play, and send the first."""
        if self.collection is not None or not self._check_nodes_have_same_collection():
            return
        self.collection = next(iter(self.node2collection.values()))
        self._units = deque(units(self.collection))
        self.pending[:] = range(len(self.collection))
        for node in self.nodes:
            self.check_schedule(node)

    def check_schedule(self, node: Any, duration: float = 0) -> None:
        """Send the next units to a worker that has little to do, or its end."""
        if node.shutting_down:
            return
        mine: list[int] = []
        while self._units and len(self.node2pending[node]) + len(mine) < PENDING:
            mine += self._units.popleft()
        if mine:
            self.node2pending[node] += mine
            node.send_runtest_some(mine)
        if not self._units:
            self.pending.clear()
            node.shutdown()

    def remove_node(self, node: Any) -> str | None:
        """The id of the check that a crashed worker played. The others go on with what is left, but not with it."""
        pending = self.node2pending.pop(node)
        return self.collection[pending[0]] if pending and self.collection else None


def run_words(workers: int, hosts: Sequence[str]) -> list[str]:
    """The words for pytest that start the workers: this many here, or one for each host (``--tx`` of pytest-xdist)."""
    where = [word for host in hosts for word in ("--tx", host)] or ["--tx", f"{workers}*popen"]
    return ["-p", "xdist.plugin", "--dist", "load", "--max-worker-restart", "0", *where]
