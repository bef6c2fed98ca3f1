"""What a fork does: it starts the implementation, plays the items that it is sent, and says what it comes to."""

from __future__ import annotations

from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import pytest

from looptck.guard import playing
from looptck.guard.interrupts import held
from looptck.guard.waiting import LOOK
from looptck.suite.options import CouldNotRun
from looptck.suite.parts import part_of
from looptck.suite.session import Session
from looptck.suite.worker import News

PLAYED, REPORTS, WHOLE, WHY = "played", "reports", "whole", "why"
"""The keys of what it says: what an item has added, with pytest's reports; in the end all that it has come to; or, if
the implementation does not start, why."""


def play(theirs: Connection, pytest_session: pytest.Session, session: Session, *, with_reports: bool) -> None:
    """Play the items of the pytest session whose places are sent, until an empty list is."""
    playing.leave()
    record = session.record
    record.listeners.clear()
    record.results.clear()  # what others have come to, if this process takes the place of one that has crashed
    record.judged = 0
    try:
        session.start()
        _play_items(theirs, pytest_session, News(session), with_reports=with_reports)
    except CouldNotRun as error:
        theirs.send({WHY: str(error)})
        return
    except (KeyboardInterrupt, EOFError):
        pass  # what it has come to until then counts
    finally:
        session.end()
    theirs.send({WHOLE: part_of(record)})


def _play_items(theirs: Connection, pytest_session: pytest.Session, news: News, *, with_reports: bool) -> None:
    """Play until the end."""
    items, config = pytest_session.items, pytest_session.config
    reports = _Reports(config) if with_reports else None
    places = _places(theirs)
    place = next(places, None)
    while place is not None:
        following = next(places, None)
        after = None if following is None else items[following]
        config.hook.pytest_runtest_protocol(item=items[place], nextitem=after)
        said = {PLAYED: news.take(), REPORTS: reports.take() if reports else []}
        with held():
            theirs.send(said)
        place = following


def _places(theirs: Connection) -> Iterator[int]:
    """The places that are sent, one after the other."""
    while True:
        while not theirs.poll(LOOK):
            pass
        some = theirs.recv()
        if not some:
            return
        yield from some


class _Reports:
    """pytest's reports of what was played, as pytest sends them to another process."""

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
