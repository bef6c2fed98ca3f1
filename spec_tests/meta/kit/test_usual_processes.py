"""How many processes play if nobody says it."""

from __future__ import annotations

import pytest

from looptck.suite import processes
from looptck.suite.processes import WANTED, usual


@pytest.mark.parametrize(("said", "expected"), [("1", 1), ("3", 3), ("0", None), ("", None), ("many", None)])
def test_the_environment_may_say_how_many(said: str, expected: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A number that the environment wants of pytest-xdist counts; else there are two for each core."""
    monkeypatch.setenv(WANTED, said)
    monkeypatch.setattr(processes, "cores", lambda: 4)

    assert (expected or 8) == usual()
