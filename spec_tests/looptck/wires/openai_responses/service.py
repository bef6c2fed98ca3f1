"""The far end of one run on the Responses wire: it judges and reads each request in the light of what it has answered.

It stores its replies as the service does, unless a request says ``store: false``, and continues from them by
``previous_response_id``: the history is then what stood before, without the old instructions, and the new input. Items
may come back whole, as references, and thoughts as their encrypted content alone. There are no conversation objects: a
request that belongs to one leans on what is not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from looptck.history import Item, Request
from looptck.turns import Turn
from looptck.wires.openai_responses.judge import judge
from looptck.wires.openai_responses.memory import Memory
from looptck.wires.openai_responses.read import read, told
from looptck.wires.problem import Problem


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

    def forget(self, why: str | None = None) -> None:
        """See ``Service``."""
        self._memory.lose(why)

    def _items(self, body: object) -> Iterator[Item]:
        """The history but for the instructions, told neutrally."""
        if not isinstance(body, dict):
            return
        seals = self._memory.seals
        for item in self._memory.before(body):
            yield from told(item, "/previous_response_id", seals)
        text = isinstance(body.get("input"), str)
        for place, item in enumerate(self._memory.input(body)):
            yield from told(item, "/input" if text else f"/input/{place}", seals)


def service(stateful: bool) -> ResponsesService:
    """The far end of one run; given whether it keeps what it has answered."""
    return ResponsesService(stateful=stateful)
