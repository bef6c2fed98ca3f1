"""The script of a mock: answers that may still be added to, in one or several conversations that advance by themselves.

All wires share it. A refused request takes no answer: the model was never asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from looptck.mock.answers import Item, answer_of
from looptck.mock.requests import Request
from looptck.provider.script import Step
from looptck.values.history import leaves

When = str | Callable[[Request], bool]
"""Which requests belong to a conversation: those with this text in them, or those for which this is true."""


@dataclass(slots=True)
class Conversation:
    """Answers in their order."""

    when: When | None = None
    """None: all requests that no other conversation takes."""
    items: list[Item | Step] = field(default_factory=list)
    repeats: bool = False
    """Whether the answers begin again after the last."""
    played: int = 0

    def next(self) -> Item | Step | None:
        """What answers the next request; None: nothing is left."""
        if self.repeats and self.items:
            return self.items[self.played % len(self.items)]
        return self.items[self.played] if self.played < len(self.items) else None

    @property
    def left(self) -> Sequence[Item | Step]:
        """The answers that were not played; none of a conversation that repeats."""
        return () if self.repeats else self.items[self.played :]

    def takes(self, body: Any, request: Callable[[], Request]) -> bool:
        """Whether a request belongs to it."""
        if self.when is None:
            return True
        if isinstance(self.when, str):
            return any(self.when in text for text in leaves(body))
        return bool(self.when(request()))


class Playlist:
    """The conversations of a mock. The first that takes a request and has an answer left gives it."""

    def __init__(self) -> None:
        self.conversations: list[Conversation] = []

    def add(self, items: Sequence[Item | Step], when: When | None, *, repeats: bool) -> None:
        """Add answers: to the conversation of these requests if there is one and it ends, else to a new one.

        Raises:
            TypeError: one is no answer.
        """
        for item in items:
            if not callable(item) and not isinstance(item, Step):
                answer_of(item)
        known = [one for one in self.conversations if one.when == when and not one.repeats]
        if known and not repeats:
            known[-1].items += items
        else:
            self.conversations.append(Conversation(when, list(items), repeats))

    def conversation(self, body: Any, request: Callable[[], Request]) -> Conversation | None:
        """The conversation that answers a request: those for certain requests come before those for all."""
        ranked = sorted(self.conversations, key=lambda one: one.when is None)
        taking = [one for one in ranked if one.takes(body, request)]
        return next((one for one in taking if one.next() is not None), None)

    @property
    def left(self) -> int:
        """How many answers were not played."""
        return sum(len(one.left) for one in self.conversations)


def step_of(item: Item | Step, request: Request) -> Step:
    """The step that answers a request.

    Raises:
        TypeError: a function has returned no answer.
    """
    if isinstance(item, Step):
        return item
    if callable(item):
        item = answer_of(item(request))
    return answer_of(item).step
