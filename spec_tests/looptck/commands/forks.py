"""Plays a run in several processes at a time, all forks of this one, which has imported and collected the suite.

Each fork has a provider and a driver of its own. This process deals the units of the run between them (see
``suite.units``) and plays nothing; nor does it load the driver, since what a driver imports may not outlive a fork
(see ``commands.trying``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import Any

import pytest

from looptck.commands.gathering import Gathering
from looptck.commands.in_fork import PLAYED, REPORTS, WHOLE, WHY, play
from looptck.guard import forking
from looptck.guard.forking import Fork, forked
from looptck.guard.interrupts import held
from looptck.report.terminal import Terminal
from looptck.suite.session import Session
from looptck.suite.units import units

PENDING = 3
"""How many checks a fork has to do at least: while it plays one, it knows the next."""
ROUNDS = 61
"""In how many rounds through the suite the units are dealt."""
SPARE = 10
"""How many forks may take the place of others that have crashed."""


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
        work = partial(play, pytest_session=session, session=self._session, with_reports=self._junit)

        def forks(count: int) -> list[Fork]:
            self._terminal.stop()  # a fork must not meet the thread that shows the progress
            begun = [forked(work) for _ in range(count)]
            self._terminal.go_on()
            return begun

        dealing = _Dealing(self._gathering, mixed(units(ids)), partial(_log, session.config), forks)
        with dealing.between(min(self._workers, len(ids))):
            dealing.deal()
        return True


def mixed(ordered: Sequence[list[int]]) -> deque[list[int]]:
    """The units in rounds: those that wait, which are beside each other in the suite, are dealt beside others."""
    return deque(unit for begin in range(ROUNDS) for unit in ordered[begin::ROUNDS])


def _log(config: pytest.Config, data: dict[str, Any]) -> None:
    """Report to pytest's plugins what a fork has reported to its own."""
    hook = config.hook
    hook.pytest_runtest_logreport(report=hook.pytest_report_from_serializable(config=config, data=data))


@dataclass(slots=True)
class _Player:
    """A fork that plays."""

    name: str
    fork: Fork
    pending: deque[int] = field(default_factory=deque)
    """The places of what it has to play, the one that it plays first."""
    is_last: bool = False
    """Whether it knows that there is nothing more."""


class _Dealing:
    """Deals units to players until there is none."""

    def __init__(
        self,
        gathering: Gathering,
        waiting: deque[list[int]],
        log: Callable[[dict[str, Any]], None],
        forks: Callable[[int], list[Fork]],
    ) -> None:
        self._gathering = gathering
        self._waiting = waiting
        self._log = log
        self._forks = forks
        self._players: dict[Connection, _Player] = {}
        self._names = (f"f{number}" for number in count())
        self._spare = SPARE

    @contextmanager
    def between(self, players: int) -> Iterator[None]:
        """So many play, or others in their place; at the end they are gone."""
        try:
            with held():
                self._begin(players)
            yield
        except KeyboardInterrupt:
            self._interrupt()
            raise
        finally:
            for player in self._players.values():
                player.fork.end()

    def _begin(self, players: int) -> None:
        """Let so many more play."""
        for fork in self._forks(players):
            player = self._players[fork.ours] = _Player(next(self._names), fork)
            self._give(player)

    def deal(self) -> None:
        """Until every player has ended."""
        looked = monotonic()
        while self._players:
            self._hear(forking.LOOK)
            if monotonic() - looked >= forking.LOOK:
                looked = monotonic()
                for player in list(self._players.values()):
                    player.fork.look()
                    if player.fork.is_silent:
                        with held():
                            self._crashed(player)

    def _hear(self, seconds: float) -> None:
        """What players say within this time."""
        for ours in wait(list(self._players), seconds):
            assert isinstance(ours, Connection)
            with held():
                self._hear_from(self._players[ours])

    def _hear_from(self, player: _Player) -> None:
        try:
            said = player.fork.hear()
        except EOFError:
            self._crashed(player)
        else:
            self._take(player, said)

    def _give(self, player: _Player) -> None:
        """Send the next units to a player that has little to do, or that there are no more."""
        mine: list[int] = []
        while self._waiting and len(player.pending) + len(mine) < PENDING:
            mine += self._waiting.popleft()
        player.pending += mine
        with suppress(OSError):  # it has crashed, which is heard next
            if mine:
                player.fork.ours.send(mine)
            if not self._waiting and not player.is_last:
                player.is_last = True
                player.fork.ours.send([])

    def _take(self, player: _Player, said: Mapping[str, Any]) -> None:
        """Take in what a player has come to."""
        if PLAYED in said:
            player.pending.popleft()
            if said[PLAYED]:
                self._gathering.news(player.name, said[PLAYED])
            for report in said[REPORTS]:
                self._log(report)
            self._give(player)
            return
        if WHY in said:
            self._gathering.why = said[WHY]
        else:
            self._gathering.whole(player.name, said[WHOLE])
        self._gone(player)

    def _crashed(self, player: _Player) -> None:
        """Others go on with what it had to do, but not with what it played: one that takes its place, if need be."""
        self._gone(player)
        during = self._gathering.ids[player.pending.popleft()] if player.pending else ""
        self._gathering.crashed(during, player.fork.ending)
        if player.pending:
            self._waiting.appendleft([*player.pending])
        if self._waiting and self._spare:
            self._spare -= 1
            self._begin(1)

    def _gone(self, player: _Player) -> None:
        del self._players[player.fork.ours]
        player.fork.end(forking.STOPPING)

    def _interrupt(self) -> None:
        """Give the players time to stop their drivers and to say what they have come to."""
        until = monotonic() + forking.STOPPING
        self._waiting.clear()
        self._spare = 0
        for player in self._players.values():
            player.fork.interrupt()
        while self._players and (left := until - monotonic()) > 0:
            self._hear(left)
