"""Plays a run in several processes at a time, all forks of this one, which has imported and collected the suite.

Each fork has a provider and a driver of its own. This process deals the units of the run between them (see
``suite.units``) and plays nothing; nor does it load the driver, since what a driver imports may not outlive a fork:
the first fork starts it, says what it declares, and ends.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import Any, NoReturn

import pytest

from looptck.commands.gathering import Gathering
from looptck.drivers import Started
from looptck.guard import playing
from looptck.guard.descendants import is_stopped, kill_descendants
from looptck.report.terminal import Terminal
from looptck.suite.options import CouldNotRun, Prepared
from looptck.suite.parts import part_of
from looptck.suite.session import Session
from looptck.suite.units import units
from looptck.suite.worker import News

PENDING = 3
"""How many checks a fork has to do at least: while it plays one, it knows the next."""
ROUNDS = 61
"""In how many rounds through the suite the units are dealt."""
LOOK = 0.5
"""Seconds between two looks at the forks."""
STOPPED = 40
"""Looks in a row at which a fork may be stopped. One that stops itself would never go on."""
STOPPING = 10.0
"""Seconds that a fork has to stop its driver when the run is interrupted."""


def can_fork() -> bool:
    """Whether processes may be forked here: libraries of other systems do not bear it."""
    return sys.platform == "linux"


def tried(prepared: Prepared, noted: Callable[[Session], None], *, preflight: bool) -> tuple[Started, str | None]:
    """What the implementation declares, and why no run of it reaches the provider, from a fork that has tried it.

    If the driver ends that fork, it has ended the run: this process ends in the same way. ``noted`` takes note of the
    session in the fork.

    Raises:
        CouldNotRun: the implementation cannot be started.
    """
    ours, process = _forked(lambda theirs: theirs.send(_try(prepared, noted, preflight=preflight)))
    try:
        found: tuple[Started, str | None] | str = ours.recv()
    except EOFError:
        process.join()
        _end_as(process.exitcode or 0)
    finally:
        ours.close()
        kill_descendants(process.pid or 0)
        _kill(process)
    if isinstance(found, str):
        raise CouldNotRun(found)
    return found


def _try(prepared: Prepared, noted: Callable[[Session], None], *, preflight: bool) -> tuple[Started, str | None] | str:
    try:
        session = Session.opened(prepared)
    except CouldNotRun as error:
        return str(error)
    try:
        noted(session)
        return session.bench.started, session.unreached() if preflight else None
    finally:
        session.end()


def _end_as(status: int) -> NoReturn:
    """End this process as another has ended: with its exit status, or by the signal that is the negative of it."""
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


@dataclass(slots=True)
class _Fork:
    """A process that plays."""

    name: str
    process: BaseProcess
    pending: deque[int] = field(default_factory=deque)
    """The places of what it has to play, the one that it plays first."""
    is_last: bool = False
    """Whether it knows that there is nothing more."""
    stopped: int = 0
    """At how many looks in a row it was stopped."""


class Forks:
    """The pytest plugin that plays what was collected in forks."""

    def __init__(
        self, session: Session, gathering: Gathering, workers: int, terminal: Terminal, *, junit: bool
    ) -> None:
        self._session = session
        self._gathering = gathering
        self._workers = workers
        self._terminal = terminal
        self._junit = junit

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Play, in place of pytest's own loop, unless something could not be collected."""
        if session.testsfailed:
            return None
        ids = self._gathering.ids = [item.nodeid for item in session.items]
        self._terminal.stop()  # a fork must not meet the thread that shows the progress
        dealing = _Dealing(session, self._session, self._gathering, _mixed(units(ids)), junit=self._junit)
        with dealing.going(min(self._workers, len(ids))):
            self._terminal.go_on()
            dealing.play()
        return True


def _mixed(ordered: Sequence[list[int]]) -> deque[list[int]]:
    """The units in rounds: those that wait, which are beside each other in the suite, are dealt beside others."""
    return deque(unit for begin in range(ROUNDS) for unit in ordered[begin::ROUNDS])


class _Dealing:
    """Deals units to forks until there is none."""

    def __init__(
        self,
        pytest_session: pytest.Session,
        session: Session,
        gathering: Gathering,
        waiting: deque[list[int]],
        *,
        junit: bool,
    ) -> None:
        self._pytest_session = pytest_session
        self._session = session
        self._gathering = gathering
        self._waiting = waiting
        self._junit = junit
        self._forks: dict[Connection, _Fork] = {}

    @contextmanager
    def going(self, workers: int) -> Iterator[None]:
        """The forks are there, and are gone at the end."""
        try:
            for number in range(workers):
                ours, process = _forked(self._play_in_fork)
                self._forks[ours] = _Fork(f"f{number}", process)
            yield
        except KeyboardInterrupt:
            self._interrupt()
            raise
        finally:
            for ours, fork in self._forks.items():
                kill_descendants(fork.process.pid or 0)
                _kill(fork.process)
                ours.close()

    def play(self) -> None:
        """Until every fork has ended."""
        for ours in list(self._forks):
            self._deal(ours)
        looked = monotonic()
        while self._forks:
            for one in wait(list(self._forks), LOOK):
                assert isinstance(one, Connection)
                self._hear(one)
            if monotonic() - looked >= LOOK:
                looked = monotonic()
                self._end_stopped()

    def _end_stopped(self) -> None:
        """Kill the forks that stay stopped, which is heard next."""
        for fork in self._forks.values():
            fork.stopped = fork.stopped + 1 if is_stopped(fork.process.pid or 0) else 0
            if fork.stopped > STOPPED:
                fork.process.kill()

    def _deal(self, ours: Connection) -> None:
        """Send the next units to a fork that has little to do, or that there are no more."""
        fork = self._forks[ours]
        mine: list[int] = []
        while self._waiting and len(fork.pending) + len(mine) < PENDING:
            mine += self._waiting.popleft()
        fork.pending += mine
        with suppress(OSError):  # it has crashed, which is heard next
            if mine:
                ours.send(mine)
            if not self._waiting and not fork.is_last:
                fork.is_last = True
                ours.send([])

    def _hear(self, ours: Connection) -> None:
        fork = self._forks[ours]
        try:
            said = ours.recv()
        except (EOFError, OSError):
            self._gathering.crashed(self._gathering.ids[fork.pending[0]] if fork.pending else "")
            self._gone(ours)
            return
        if "broken" in said:
            raise RuntimeError(said["broken"])
        if "why" in said:
            self._gathering.why = said["why"]
        if "whole" in said:
            self._gathering.whole(fork.name, said["whole"])
        if "played" not in said:
            self._gone(ours)
            return
        fork.pending.popleft()
        if said["played"]:
            self._gathering.news(fork.name, said["played"])
        self._log(said["reports"])
        self._deal(ours)

    def _log(self, reports: list[dict[str, Any]]) -> None:
        hook = self._pytest_session.config.hook
        for data in reports:
            report = hook.pytest_report_from_serializable(config=self._pytest_session.config, data=data)
            hook.pytest_runtest_logreport(report=report)

    def _gone(self, ours: Connection) -> None:
        fork = self._forks.pop(ours)
        ours.close()
        fork.process.join(STOPPING)
        _kill(fork.process)

    def _interrupt(self) -> None:
        """Give the forks time to stop their drivers and to say what they have come to."""
        until = monotonic() + STOPPING
        self._waiting.clear()
        for fork in self._forks.values():
            with suppress(OSError):
                os.kill(fork.process.pid or 0, signal.SIGINT)
        while self._forks and (left := until - monotonic()) > 0:
            for one in wait(list(self._forks), left):
                assert isinstance(one, Connection)
                self._hear(one)

    # -- in a fork ---------------------------------------------------------------------------------------------------

    def _play_in_fork(self, theirs: Connection) -> None:
        playing.leave()
        session = self._session
        session.record.listeners.clear()
        try:
            session.start()
        except CouldNotRun as error:
            theirs.send({"why": str(error)})
            return
        try:
            self._play_items(theirs)
        finally:
            session.end()
        theirs.send({"whole": part_of(session.record)})

    def _play_items(self, theirs: Connection) -> None:
        """Play what is sent, until the end or an interrupt."""
        items = self._pytest_session.items
        config = self._pytest_session.config
        reports = _Reports(config) if self._junit else None
        news = News(self._session)
        places = _places(theirs)
        with suppress(KeyboardInterrupt, EOFError):
            place = next(places, None)
            while place is not None:
                following = next(places, None)
                after = None if following is None else items[following]
                config.hook.pytest_runtest_protocol(item=items[place], nextitem=after)
                played = {"played": news.take(), "reports": reports.take() if reports else []}
                theirs.send(played)
                place = following


def _places(theirs: Connection) -> Iterator[int]:
    """The places that are sent, one after the other."""
    while some := theirs.recv():
        yield from some


class _Reports:
    """The reports of what a fork has played, as pytest sends them to another process."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._kept: list[dict[str, Any]] = []
        config.pluginmanager.register(self)

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._kept.append(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))

    def take(self) -> list[dict[str, Any]]:
        kept, self._kept = self._kept, []
        return kept


def _forked(work: Callable[[Connection], None]) -> tuple[Connection, BaseProcess]:
    """A fork that does some work, given its end of a connection, and ends; returns this process's end of it."""
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    process = fork.Process(target=_in_fork, args=(work, ours, theirs))
    gc.collect()
    gc.freeze()  # else a collection in the fork would touch, and so copy, the memory of this process
    with warnings.catch_warnings():
        # Python 3.12 warns about other threads, which may hold a lock: those of looptck wait for the guard
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        process.start()
    gc.unfreeze()
    theirs.close()
    return ours, process


def _in_fork(work: Callable[[Connection], None], ours: Connection, theirs: Connection) -> None:
    ours.close()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        work(theirs)
    except KeyboardInterrupt:
        pass
    except BaseException:  # noqa: BLE001  the parent reports any error
        with suppress(OSError):
            theirs.send({"broken": traceback.format_exc()})
    with suppress(ValueError, OSError):  # foreign code may have closed them
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)  # an implementation may have left threads that would keep the process alive


def _kill(process: BaseProcess) -> None:
    if process.is_alive():
        process.kill()
    process.join()
