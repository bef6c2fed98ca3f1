"""Interrupts: SIGINT and SIGTERM, which raise `KeyboardInterrupt` wherever the main thread is."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ASKING = (signal.SIGINT, signal.SIGTERM)
"""The signals that ask a process to end."""


@contextmanager
def held() -> Iterator[None]:
    """An interrupt inside counts at the end: a message that is half sent or half read would spoil all further ones."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked: list[tuple[int, FrameType | None]] = []
    before = {number: signal.signal(number, lambda *how: asked.append(how)) for number in ASKING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for how in asked[:1]:
        if callable(handler := before[signal.Signals(how[0])]):
            handler(*how)


def once() -> None:
    """Let the first interrupt of this process be the only one: a further one must not interrupt how it ends."""
    for number in ASKING:
        signal.signal(number, _first)


def _first(_: int, __: FrameType | None) -> None:
    for number in ASKING:
        signal.signal(number, _nothing)
    raise KeyboardInterrupt


def _nothing(_: int, __: FrameType | None) -> None:
    """Not SIG_IGN, which a process that is started from here would inherit."""
