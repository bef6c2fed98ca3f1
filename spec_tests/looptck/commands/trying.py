"""Tries an implementation in a fork: this process, which others will be forked from, does not load it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from looptck.drivers import Started
from looptck.guard import forking
from looptck.guard.forking import Fork, forked
from looptck.suite.options import CouldNotRun, Prepared
from looptck.suite.session import Session


def tried(prepared: Prepared, noted: Callable[[Session], None], *, preflight: bool) -> tuple[Started, str | None]:
    """What the implementation declares, and why no run of it reaches the provider.

    If the driver ends the fork, it has ended the run: this process ends in the same way. ``noted`` takes note of the
    session in the fork.

    Raises:
        CouldNotRun: the implementation cannot be started.
    """
    fork = forked(lambda theirs: theirs.send(_try(prepared, noted, preflight=preflight)))
    found: tuple[Started, str | None] | str | None = None
    try:
        found = _heard(fork)
    except KeyboardInterrupt:
        fork.interrupt()
        fork.end(forking.STOPPING)
        raise
    finally:
        status = fork.end()
    if found is None:
        _end_as(status)
    if isinstance(found, str):
        raise CouldNotRun(found)
    return found


def _heard(fork: Fork) -> tuple[Started, str | None] | str | None:
    """What it has found; None if it has ended without a word."""
    while not fork.ours.poll(forking.LOOK):
        fork.look()
        if fork.is_silent:
            return None
    try:
        found: tuple[Started, str | None] | str = fork.hear()
    except EOFError:
        fork.process.join()
        return None
    return found


def _try(prepared: Prepared, noted: Callable[[Session], None], *, preflight: bool) -> tuple[Started, str | None] | str:
    try:
        session = Session.opened(prepared)
    except CouldNotRun as error:
        return str(error)
    try:
        noted(session)
        return session.bench.started, session.unreached() if preflight else None
    finally:
        session.end()


def _end_as(status: int) -> NoReturn:
    """End this process as another has ended: with its exit status, or by the signal that is the negative of it."""
    if status < 0:
        with suppress(OSError):  # SIGKILL cannot be handled
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)
