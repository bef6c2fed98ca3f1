"""A driver with a `stop` that is a coroutine function, over both kinds of connection."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from looptck import driver as door
from looptck.drivers import InProcess, Process, connect
from meta.drivers.test_cancel import CASE, PATIENCE, WAYS

STOPS = f"{Path(__file__).with_name('stopping_drivers.py')}:Stops"
SERVED = "cmd:" + shlex.join([sys.executable, door.__file__, STOPS])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("mode", "where"), [("async", "the event loop of the runs"), ("sync", "another one")])
def test_it_is_awaited(way: str, mode: str, where: str, tmp_path: Path) -> None:
    """It runs to its end, on the event loop of the async runs, where their clients can be closed."""
    place = tmp_path / "stopped"
    line = connect(f"python:{STOPS}" if way == "inside" else SERVED)
    assert isinstance(line, InProcess | Process)
    line.start()
    line.run("r.1", CASE | {"name": str(place), "mode": mode}, lambda _: None).result(PATIENCE)

    late = line.stop()

    assert ([], where) == (late, place.read_text(encoding="utf-8"))
