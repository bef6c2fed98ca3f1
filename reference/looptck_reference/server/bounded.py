"""A bounded mapping for sessions, files and similar data, so that they cannot fill the memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from looptck_reference.server.clock import Clock

__all__ = ["Shelf"]

V = TypeVar("V")


class Shelf(Generic[V]):
    """Values by owner and id, with eviction.

    The least recently used value is evicted if there are more than `limit`, or more than `capacity` bytes, which
    `weigh` counts. A value that was not used for `ttl` seconds expires.
    """

    def __init__(self, *, limit: int, capacity: int, ttl: float, clock: Clock, weigh: Callable[[V], int]) -> None:
        self._limit = limit
        self._capacity = capacity
        self._ttl = ttl
        self._clock = clock
        self._weigh = weigh
        self._kept: OrderedDict[tuple[str, str], tuple[float, int, V]] = OrderedDict()
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, owner: str, key: str) -> V | None:
        """The value, which now counts as used."""
        self._forget()
        kept = self._kept.get((owner, key))
        if kept is None:
            return None
        self._kept[owner, key] = (self._clock.now(), *kept[1:])
        self._kept.move_to_end((owner, key))
        return kept[2]

    def put(self, owner: str, key: str, value: V) -> bool:
        """Store the value, replacing an old one; False if it is too large to be stored."""
        self.drop(owner, key)
        weight = self._weigh(value)
        if weight > self._capacity:
            return False
        self._kept[owner, key] = (self._clock.now(), weight, value)
        self.bytes += weight
        self._forget()
        return True

    def drop(self, owner: str, key: str) -> bool:
        """Remove the value; returns whether there was one."""
        kept = self._kept.pop((owner, key), None)
        self.bytes -= kept[1] if kept else 0
        return kept is not None

    def of(self, owner: str) -> Iterator[V]:
        """All values of an owner, the most recently used one last."""
        self._forget()
        return (value for (whose, _), (_, _, value) in list(self._kept.items()) if whose == owner)

    def _forget(self) -> None:
        """Evict values in the order of their last use, until one may stay."""
        oldest = self._clock.now() - self._ttl
        while self._kept:
            key, (used, _, _) = next(iter(self._kept.items()))
            if used > oldest and len(self._kept) <= self._limit and self.bytes <= self._capacity:
                return
            self.drop(*key)
