"""Imports at the beginning of a command: nothing of them is garbage, and none of it is looked through again later."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def importing() -> Iterator[None]:
    """Import what a command needs. The collector would look through all that is there a dozen times meanwhile."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()
