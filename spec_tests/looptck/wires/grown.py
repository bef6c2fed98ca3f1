"""What a service knows of the latest request that it saw, for a request that only goes on from it.

A loop sends its whole history with each request, and most of it was judged and read with the request before. A service
that found no problem there looks at the new entries alone: where these have no problem either, the request has none,
since no rule of a wire finds a problem of the whole that is in neither part. (Rules of which this does not hold are
asked about the whole.) In all other cases the service judges the whole request as if it were the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Generic, TypeVar

from looptck.values.growth import Growth
from looptck.values.history import Item, Request

Known = TypeVar("Known")

LONG = 10_000
"""A history with more entries is always taken as a whole: services limit their number."""


class Latest(Generic[Known]):
    """What is known of the latest request; ``history``: the member that holds the list of messages or items."""

    def __init__(self, history: str) -> None:
        self._history = history
        self._body: object = None
        self._known: Known | None = None

    def keep(self, body: object, known: Known | None) -> None:
        """A request came, of which this is known; None: nothing."""
        self._body, self._known = body, known

    def of(self, body: object) -> Known | None:
        """What is known of this request, if it is the latest."""
        return self._known if body is self._body else None

    def before(self, body: Any, growth: Growth | None) -> Known | None:
        """What is known of the request from which this one goes on; None if it goes on from none, or nothing is."""
        if growth is None or growth.before is not self._body or growth.member not in (None, self._history):
            return None
        return self._known if growth.member is None or len(body[self._history]) <= LONG else None


Items = Callable[[list[Any], int], Iterable[Item]]
"""The neutral form of entries of a history; the first has this index."""


class Reading:
    """Reads the requests of a run: one that goes on from the one before has its items, and those of the new entries."""

    def __init__(self, history: str, read: Callable[[object], Request], items: Items) -> None:
        self._read = read
        self._items = items
        self._known = Latest[Request](history)

    def of(self, body: object, growth: Growth | None) -> Request:
        """The neutral form of a request."""
        request = self._known.before(body, growth)
        if request is None or growth is None:
            request = self._read(body)
        elif new := growth.new(body):
            request = replace(request, items=(*request.items, *self._items(new, growth.kept)))
        self._known.keep(body, request)
        return request
