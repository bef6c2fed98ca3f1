"""The service's memory of its turns: which thinking is genuine, and which faults are the service's and not the loop's.

Thinking must come back unchanged or not at all: the service refuses a signature that it never issued, and thinking that
was changed or moved in the model's latest turn, but accepts that it was dropped. The service also accepts everything
that it has sent itself, even thinking without a signature, as other servers send it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from looptck.values.framing import DEFAULT
from looptck.values.problem import Problem
from looptck.values.turns import Text, Thinking, Turn
from looptck.wires.anthropic_messages.encode import body
from looptck.wires.schema_rules import value_at

RULES = {
    "thoughts-are-genuine": "A thinking block comes with the signature or the data that the service gave it.",
    "thoughts-are-unchanged": "The thinking of the model's latest turn has its original text and order.",
}

_SIGNED_MEMBERS = {"thinking": "signature", "redacted_thinking": "data"}
"""The member with the signature, for each kind of thinking block."""


class Memory:
    """The turns that were sent in one run. They are examined only if a request needs them."""

    def __init__(self) -> None:
        self._turns: list[Turn] = []
        self._thoughts: dict[str, tuple[int, str]] = {}
        """The index and the text of each thinking block, by its signature."""
        self._unsigned: set[str] = set()
        """The texts of thinking with an empty signature."""
        self._known = 0

    def add(self, turn: Turn) -> None:
        """Remember a turn that was sent."""
        self._turns.append(turn)

    def problems(self, messages: list[dict[str, Any]]) -> list[Problem]:
        """The problems of the thinking in these messages; none as long as no thinking was sent."""
        self._look()
        if not self._thoughts:
            return []
        found: list[Problem] = []
        latest = _latest(messages)
        reached = -1
        for place, number, block in _thoughts(messages):
            pointer, where = f"/messages/{place}/content/{number}", f"messages.{place}.content.{number}"
            signature = _SIGNED_MEMBERS[block["type"]]
            order, text = self._thoughts.get(block[signature], (-1, ""))
            if not block[signature] and block.get("thinking", "") in self._unsigned:
                continue
            changed = block.get("thinking", text) != text
            if order < 0 or (changed and place < latest):
                words = f"{where}: Invalid `{signature}` in `{block['type']}` block"
                found.append(Problem("thoughts-are-genuine", f"{pointer}/{signature}", words))
            elif place >= latest and (changed or order <= reached):
                words = (
                    f"{where}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
                    "modified. These blocks must remain as they were in the original response."
                )
                found.append(Problem("thoughts-are-unchanged", pointer, words))
            elif place >= latest:
                reached = order
        return found

    def excuses(self, problem: Problem, request: dict[str, Any]) -> bool:
        """Whether the service itself caused the fault."""
        place = tuple(int(step) if step.isdigit() else step for step in problem.pointer.split("/")[1:])
        value = value_at(request, place)
        match problem.rule:
            case "blocks-are-known":
                return any(value == block["type"] for turn in self._turns for block in _blocks(turn))
            case "call-ids-are-unique":
                return any([call.id for call in turn.calls].count(value) > 1 for turn in self._turns)
            case "ids-are-legal" | "results-carry-a-call-id":
                return any(value == call.id for turn in self._turns for call in turn.calls)
            case "prefill-ends-in-no-blank":
                text = value[-1]["text"] if isinstance(value, list) else value
                return any(Text(text) == piece for turn in self._turns for piece in turn.pieces)
            case _:
                return False

    def _look(self) -> None:
        """Examine the turns that were added since the last call."""
        for turn in self._turns[self._known :]:
            for piece in turn.pieces:
                if isinstance(piece, Thinking):
                    text = "" if piece.redacted else piece.text
                    if piece.signature:
                        self._thoughts[piece.signature] = len(self._thoughts), text
                    else:
                        self._unsigned.add(text)
        self._known = len(self._turns)


def _blocks(turn: Turn) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = body(turn, 0, DEFAULT)["content"]
    return content


def _latest(messages: list[dict[str, Any]]) -> int:
    """The index at which the model's latest turn begins."""
    place = len(messages) - 1
    while place >= 0 and messages[place]["role"] != "assistant":
        place -= 1
    while place > 0 and messages[place - 1]["role"] == "assistant":
        place -= 1
    return place


def _thoughts(messages: list[dict[str, Any]]) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """The thinking blocks in the messages, each with the index of its message and its own."""
    for place, message in enumerate(messages):
        if message["role"] == "assistant" and isinstance(message["content"], list):
            for number, block in enumerate(message["content"]):
                if block["type"] in _SIGNED_MEMBERS:
                    yield place, number, block
