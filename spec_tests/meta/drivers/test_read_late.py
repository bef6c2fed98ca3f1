"""What a driver's process has written and nobody has read yet is a part of its work."""

from __future__ import annotations

import shutil
import threading

import pytest

from looptck.drivers.child import Child
from looptck.guard.process_table import is_known
from meta.drivers.bench import ENOUGH

CAT = shutil.which("cat")


@pytest.mark.skipif(CAT is None or not is_known(), reason="needs a program that waits, and Linux's process table")
def test_a_process_whose_line_is_being_read_is_at_work() -> None:
    """The process only waits, but the thread that takes in its line still runs."""
    begun, seen, done = threading.Event(), threading.Event(), threading.Event()

    def heard(_: Child, line: bytes) -> None:
        begun.set()
        while line and not seen.is_set():
            pass
        done.set()

    child = Child(f"{CAT}", heard, lambda *_: None)
    try:
        child.send({"type": "stop"})  # which comes back as its own line
        assert begun.wait(ENOUGH)

        while_it_is_read = child.pulse()
        seen.set()
        assert done.wait(ENOUGH)
    finally:
        seen.set()
        child.dismiss("the test is over")

    assert while_it_is_read.running
