"""The server-side state of a run: the service's replies, and whether they are still stored.

Each reply is recorded when it is sent, and split into items only once a request refers to it or returns some of them.
Reasoning items carry their encrypted content: the service recognizes it even if it has not stored the reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from looptck.values.frozen import dataclass
from looptck.values.turns import Thinking, Turn
from looptck.wires.openai_responses.conversations import Conversations, id_of
from looptck.wires.openai_responses.encode import items

Item = dict[str, Any]


@dataclass(slots=True, eq=False)
class Reply:
    """A whole reply, and the request that it answers."""

    body: dict[str, Any]
    n: int
    turn: Turn
    promised: bool
    """Whether the request allowed the service to store the reply."""
    kept: bool
    """Whether the service has stored it."""
    history: list[Item] | None = field(default=None, repr=False)
    """All items up to the end of this reply; computed on demand."""


@dataclass(frozen=True, slots=True)
class Sent:
    """An output item of a reply."""

    item: Item
    reply: Reply
    times: int
    """How often the service has sent an item with this id: a script may use one id twice."""
    thought: str | None
    """The id of the reasoning item right before it."""
    followed: bool
    """Whether another item followed it."""


class Memory:
    """The replies of one run; ``keeps`` False: none of them is stored."""

    def __init__(self, *, keeps: bool = True) -> None:
        self.conversations = Conversations()
        self.lost_code: str | None = None
        """The error code of the service for its lost state; None: the default one."""
        self._keeps = keeps
        self._replies: dict[str, Reply] = {}
        self._unread: list[Reply] = []
        self._sent: dict[str, Sent] = {}
        self._signatures: dict[str, str] = {}
        self._changes = 0

    def add(self, body: dict[str, Any], n: int, turn: Turn, id: str | None = None) -> None:
        """Record that the service answered this request, the ``n``-th, with this turn; ``id``: of a recorded reply."""
        promised = body.get("store") is not False
        reply = Reply(body, n, turn, promised, promised and self._keeps)
        self._replies[id or f"resp_looptck{n:016d}"] = reply
        self._unread.append(reply)
        if self._keeps and (conversation := id_of(body)) is not None:
            self.conversations.add(conversation, [*self.input(body), *items(turn, n)])

    def lose(self, code: str | None) -> None:
        """Lose all stored replies."""
        self.lost_code = code
        self._changes += 1
        self.conversations.lose()
        for reply in self._replies.values():
            reply.kept = False

    def forget(self, id: str) -> None:
        """Store a reply no longer."""
        self._changes += 1
        self._replies[id].kept = False

    def has_conversation(self, id: str) -> bool:
        """Whether the service has a conversation with this id."""
        return self._keeps and id in self.conversations

    def reply(self, id: str) -> Reply | None:
        """The reply with this id, stored or not."""
        return self._replies.get(id)

    def sent(self, id: str) -> Sent | None:
        """The output item with this id, stored or not."""
        self._read()
        return self._sent.get(id)

    @property
    def signatures(self) -> Mapping[str, str]:
        """The encrypted contents of all reasoning items, each with the item's id."""
        self._read()
        return self._signatures

    @property
    def changes(self) -> int:
        """How often the memory has changed in anything that it knew already: it usually only grows."""
        self._read()
        return self._changes

    def before(self, body: Mapping[str, Any]) -> list[Item]:
        """The stored items that a request continues, by its ``previous_response_id`` or its ``conversation``."""
        if (conversation := id_of(body)) is not None:
            return self.conversations.items(conversation) if self._keeps else []
        reply = self._previous(body)
        return self._history(reply) if reply is not None and reply.kept else []

    def input(self, body: Mapping[str, Any]) -> list[Any]:
        """The input of a request as items; stored items replace the references to them."""
        given = body.get("input")
        if isinstance(given, str):
            return [{"role": "user", "content": given}] if given else []
        return [self._resolved(item) for item in given] if isinstance(given, list) else []

    def _previous(self, body: Mapping[str, Any]) -> Reply | None:
        id = body.get("previous_response_id")
        return self._replies.get(id) if isinstance(id, str) else None

    def _history(self, reply: Reply) -> list[Item]:
        """All items up to the end of a reply."""
        chain: list[Reply] = []
        node: Reply | None = reply
        while node is not None and node.history is None:
            chain.append(node)
            node = self._previous(node.body)
        history = node.history if node is not None and node.history is not None else []
        for node in reversed(chain):
            history = node.history = [*history, *self.input(node.body), *items(node.turn, node.n)]
        return history

    def _resolved(self, item: Any) -> Any:
        if not isinstance(item, dict) or item.get("type") != "item_reference":
            return item
        sent = self.sent(item["id"]) if isinstance(item.get("id"), str) else None
        return sent.item if sent is not None and sent.reply.kept else item

    def _read(self) -> None:
        """Split the new replies into items."""
        for reply in self._unread:
            output = items(reply.turn, reply.n)
            thought = None
            for place, (item, piece) in enumerate(zip(output, reply.turn.pieces, strict=True), 1):
                id = item["id"]
                times = self._sent[id].times + 1 if id in self._sent else 1
                self._changes += times > 1
                self._sent[id] = Sent(item, reply, times, thought, place < len(output))
                thought = None
                if isinstance(piece, Thinking):
                    signatures = dict.fromkeys((piece.signature, piece.final_signature or piece.signature), id)
                    self._changes += any(self._signatures.get(one, id) != id for one in signatures)
                    self._signatures |= signatures
                    thought = id
        self._unread.clear()
