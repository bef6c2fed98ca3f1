"""A worker: one of the processes that play a run between them, each with a provider and a driver of its own.

pytest-xdist starts them and deals the checks (see ``commands.hosts``). What a worker comes to goes back with the
report of each check, and once more as a whole at its end, when the driver has stopped and no verdict can change.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from looptck.suite.parts import news_of, part_of

if TYPE_CHECKING:
    from looptck.suite.options import Options
    from looptck.suite.session import Session

KEY = "looptck"
"""The name of what looptck passes to a worker, and of what it gets back."""
WHY = "looptck_why"
"""The name of the reason why a worker cannot play."""


def told(options: Options, temporary: str | None) -> bytes:
    """What a worker is told: the options of the run, and the folder for temporary files (None: the system's)."""
    return pickle.dumps((options, temporary))


def options_of(config: pytest.Config) -> Options | None:
    """The options that this process was told as a worker of a run; None: it is no worker."""
    given = getattr(config, "workerinput", {}).get(KEY)
    if given is None:
        return None
    options, tempfile.tempdir = pickle.loads(given)  # noqa: S301  from the process that has started this one
    return options  # type: ignore[no-any-return]


class News:
    """What a session has come to since the last look."""

    def __init__(self, session: Session) -> None:
        self._record = session.record
        self._results = self._findings = self._answers = 0

    def take(self) -> dict[str, Any]:
        """What has been added; empty if nothing has."""
        record = self._record
        news = news_of(record, self._results, self._findings, self._answers)
        self._results, self._findings = len(record.results), len(record.findings)
        self._answers = len(record.answers)
        return news | {"judged": record.judged} if news["results"] or news["answers"] else {}


class Worker:
    """A pytest plugin that sends back what a session comes to."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._news = News(session)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        """Send what has been added with the report."""
        report = yield
        if news := self._news.take():
            setattr(report, KEY, orjson.dumps(news).decode())
        return report

    def end(self, config: pytest.Config) -> None:
        """Send the whole; the session has ended."""
        output: dict[str, Any] = config.workeroutput  # type: ignore[attr-defined]
        output[KEY] = orjson.dumps(part_of(self._session.record)).decode()


def send_why(config: pytest.Config, why: str) -> None:
    """Send the reason why this worker cannot play."""
    config.workeroutput[WHY] = why  # type: ignore[attr-defined]
