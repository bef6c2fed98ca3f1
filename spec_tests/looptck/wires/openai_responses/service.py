"""The backend of one run on the Responses wire: it judges and reads each request, given its earlier replies.

It stores its replies as the service does, unless a request says ``store: false``, and continues from them by
``previous_response_id``: the history is then the stored history, without the old instructions, and the new input. Items
may come back complete or as references, and reasoning items as their encrypted content alone. There are no conversation
objects: a request that belongs to one is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from looptck.values.history import Item, Request
from looptck.values.problem import Problem
from looptck.values.turns import Turn
from looptck.wires.openai_responses.judge import judge
from looptck.wires.openai_responses.memory import Memory
from looptck.wires.openai_responses.read import parse_item, read


class ResponsesService:
    """A ``Service``; ``stateful`` False: nothing is ever stored, as for organizations with zero data retention."""

    def __init__(self, *, stateful: bool) -> None:
        self._memory = Memory(keeps=stateful)

    def judge(self, body: object, headers: Mapping[str, str] | None = None) -> list[Problem]:
        """See ``Service``."""
        return judge(body, self._memory)

    def read(self, body: object) -> Request:
        """See ``Service``."""
        return read(body, self._items(body))

    def replied(self, body: Any, n: int, turn: Turn, id: str | None = None) -> None:
        """See ``Service``."""
        self._memory.add(body, n, turn, id)

    def lose_state(self, why: str | None = None) -> None:
        """See ``Service``."""
        self._memory.lose(why)

    def _items(self, body: object) -> Iterator[Item]:
        """The history without the instructions, in provider-neutral form."""
        if not isinstance(body, dict):
            return
        signatures = self._memory.signatures
        for item in self._memory.before(body):
            yield from parse_item(item, "/previous_response_id", signatures)
        text = isinstance(body.get("input"), str)
        for place, item in enumerate(self._memory.input(body)):
            yield from parse_item(item, "/input" if text else f"/input/{place}", signatures)


def service(stateful: bool) -> ResponsesService:
    """Makes the backend of one run; the argument: whether it stores its replies."""
    return ResponsesService(stateful=stateful)
