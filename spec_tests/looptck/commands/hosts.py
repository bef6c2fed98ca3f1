"""Plays a run in several processes at a time, here or on other hosts, over pytest-xdist.

Each is a whole run with a provider and a driver of its own. The processes deal the units of the run between them (see
``suite.units``). This process plays nothing.
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Generator, Sequence
from typing import Any

import orjson
import pytest
from xdist.scheduler import LoadScheduling

from looptck.commands.gathering import Gathering
from looptck.guard import playing
from looptck.suite.options import Options
from looptck.suite.units import is_question, units
from looptck.suite.worker import KEY, WHY, told

CRASHED = "???"
"""The phase of a check in the report that pytest-xdist makes of one whose worker has crashed."""
MODEL = "execmodel=main_thread_only//"
"""What pytest-xdist adds to each place that is given to it."""
PENDING = 2
"""How many checks a worker has to do at least: it ends the one when it knows the next."""


class Hosts:
    """The pytest plugin of the process that deals."""

    def __init__(self, gathering: Gathering, options: Options) -> None:
        self._gathering = gathering
        self._options = options
        self.unreached: str | None = None
        """Why a process could not be started."""

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionstart(self) -> Generator[None, None, None]:
        """Let pytest-xdist start the workers. Where one cannot be started, that is no internal error of pytest."""
        try:
            yield
        except Exception as error:
            self.unreached = f"{type(error).__name__}: {str(error) or error.__cause__}".replace(MODEL, "")
            raise pytest.UsageError from error

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
        """Note what there is to play."""
        self._gathering.ids = ids
        record = self._gathering.record
        record.questions = sum(map(is_question, ids))
        record.checks = len(ids) - record.questions
        playing.note("chosen", checks=record.checks)

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take in what a worker has added, or the check in which one has crashed."""
        if report.when == CRASHED:
            self._gathering.crashed(report.nodeid)
        if (text := getattr(report, KEY, None)) is not None:
            self._gathering.news(report.node.gateway.id, orjson.loads(text))

    @pytest.hookimpl
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Take in the whole of a worker that has ended, or note that it has crashed."""
        output = getattr(node, "workeroutput", {})
        if (why := output.get(WHY)) is not None:
            self._gathering.why = why
        elif KEY in output:
            self._gathering.whole(node.gateway.id, orjson.loads(output[KEY]))
        elif error is not None:
            self._gathering.crashed()


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
