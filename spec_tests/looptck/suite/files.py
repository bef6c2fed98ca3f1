"""Files of the suite: which of them hold a test for what is selected, as their text says without an import.

A test names the requirements or the trait that it is bound to as string literals; `looptck explain` relies on it too.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from looptck.catalogue.requirements import catalogue
from looptck.catalogue.traits import traits

if TYPE_CHECKING:
    from looptck.suite.session import Session

FOLDER = Path(__file__).resolve().parents[1] / "spec"
_LITERAL = re.compile(r'"([a-z][a-z0-9-]*)"')


def is_needed(path: Path, session: Session) -> bool:
    """Whether a file holds a selected test of the suite, or may hold others.

    A file of the suite that names nothing holds tests of declared cases; one outside the suite is none of ours.
    """
    if FOLDER not in path.parents or not path.name.startswith("test_"):
        return True
    named = _named(path)
    return not named or not named.isdisjoint(session.wanted)


@cache
def _named(path: Path) -> frozenset[str]:
    """The requirements and traits that a file names."""
    return frozenset(_LITERAL.findall(path.read_text(encoding="utf-8"))) & _all()


@cache
def _all() -> frozenset[str]:
    return frozenset((*catalogue().rows, *traits().by_id))
