"""Runs of the suite that open only the files in which a selected requirement or trait is named.

A run under pytest collects all files of the suite, which takes longer than the few checks that most tests play.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest

from looptck.spec import test_declared
from looptck.suite.selection import Selection
from looptck.suite.session import Session

Run = Callable[..., int]


def narrow(run_pytest: Run) -> Run:
    """The same function, whose runs do not open what they would play nothing of."""

    def run(session: Session, arguments: Sequence[str] = (), plugins: Sequence[object] = ()) -> int:
        return run_pytest(session, arguments, [*plugins, _Needed(session.selection)])

    return run


class _Needed:
    """A pytest plugin that leaves out files of the suite; files of declared cases, which name nothing, stay."""

    def __init__(self, selection: Selection) -> None:
        self._names = [f'"{name}"' for name in (*selection.requirements, *selection.traits)]

    @pytest.hookimpl
    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        if not self._names or not collection_path.name.startswith("test_") or _DECLARED == collection_path:
            return None
        text = _text(collection_path)
        return None if any(name in text for name in self._names) else True


_DECLARED = Path(test_declared.__file__)


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
