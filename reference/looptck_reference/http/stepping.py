"""What both runners do alike: they take the steps of an exchange, and tell the loop how its run ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx

from looptck_reference.http.exchange import Step
from looptck_reference.vocabulary.actions import Suspend
from looptck_reference.vocabulary.approval import Decision, Pending
from looptck_reference.vocabulary.errors import Cancelled
from looptck_reference.vocabulary.news import News, Over

if TYPE_CHECKING:
    from looptck_reference.loop.loop import Loop
    from looptck_reference.vocabulary.actions import End

__all__ = ["TIMEOUT", "AsyncConfirm", "Confirm", "OnNews", "OnText", "next_step", "nowhere", "telling"]

OnText = Callable[[str], object]

OnNews = Callable[[News], object]
"""Hears the news of a run. An exception that it raises ends the run."""

Confirm = Callable[[Pending], Decision]
"""Decides whether a call may run. An exception that it raises ends the run, and the call does not run."""

AsyncConfirm = Callable[[Pending], Awaitable[Decision]]

TIMEOUT = httpx.Timeout(600.0, connect=10.0)


def nowhere(_told: object) -> None:
    """Discard streamed text, or news, that the caller does not want."""


def next_step(steps: Generator[Step, Any, None], came: Any) -> Step | None:
    """The step after the one with this result; None if the run is over."""
    try:
        return steps.throw(came) if isinstance(came, httpx.HTTPError) else steps.send(came)
    except StopIteration:
        return None


@contextmanager
def telling(loop: Loop, ends: Sequence[End | None], on_news: OnNews) -> Iterator[None]:
    """Tell the loop if its run is cancelled or left, with the ends of the tools that have ended; and the caller how.

    A run that its caller leaves has nobody left to tell.
    """
    try:
        yield
    except BaseException as error:
        cancelled = isinstance(error, Cancelled) or not isinstance(error, Exception)
        if loop.end is None and cancelled:
            loop.cancel(ends)
        if not isinstance(error, GeneratorExit):
            on_news(Over("cancelled" if cancelled else "error"))
        raise
    on_news(Over("suspended" if isinstance(loop.end, Suspend) else "value"))
