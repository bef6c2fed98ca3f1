"""Runs of the suite that open only the files in which a selected requirement or trait is named.

A run under pytest collects all files of the suite, which takes longer than the few checks that most tests play.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest

from looptck import spec
from looptck.suite.selection import Selection
from looptck.suite.session import Session

Run = Callable[..., int]


def narrow(run_pytest: Run) -> Run:
    """The same function, whose runs do not open what they would play nothing of."""

    def run(session: Session, arguments: Sequence[str] = (), plugins: Sequence[object] = ()) -> int:
        return run_pytest(session, arguments, [*plugins, _Needed(session.selection)])

    return run


class _Needed:
    """A pytest plugin that leaves out files of the suite."""

    def __init__(self, selection: Selection) -> None:
        self._names = (*selection.requirements, *selection.traits)

    @pytest.hookimpl
    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        if not self._names or not collection_path.name.startswith("test_"):
            return None
        return None if any(may_hold(collection_path, name) for name in self._names) else True


def may_hold(path: Path, name: str) -> bool:
    """Whether a file of the suite may have tests of a requirement or trait: its markers name it."""
    return path in _OF_DATA or f'"{name}"' in _text(path)


_OF_DATA = {Path(next(iter(spec.__path__))) / f"test_{name}.py" for name in ("cassettes", "declared")}
"""The files whose requirements are named by cases and recordings."""


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
