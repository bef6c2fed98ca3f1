"""What a service knows of the turns that it has sent: which thoughts are its own, and what it cannot blame a loop for.

A thought has to come back as it was or not at all: the service refuses a signature that it never gave, and thoughts
that were changed or moved in the model's latest turn, but accepts that they were dropped. And whatever it would refuse
of a loop's making, it takes back what it has sent itself: thoughts without a signature too, as other servers send them.
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
    "thoughts-are-genuine": "A thought comes with the signature, or the data, that the service gave it.",
    "thoughts-are-unchanged": "The thoughts of the model's latest turn have the text and the order that they came in.",
}

_SIGNED_MEMBERS = {"thinking": "signature", "redacted_thinking": "data"}
"""The member of each kind of thought that the service signs."""


class Memory:
    """The turns that were sent in one run. They are examined once a request needs them."""

    def __init__(self) -> None:
        self._turns: list[Turn] = []
        self._thoughts: dict[str, tuple[int, str]] = {}
        """The place of each thought among all thoughts, and its text, by its signature."""
        self._unsigned: set[str] = set()
        """The texts of thoughts with an empty signature."""
        self._known = 0

    def add(self, turn: Turn) -> None:
        """Remember a turn that was sent."""
        self._turns.append(turn)

    def problems(self, messages: list[dict[str, Any]]) -> list[Problem]:
        """What is wrong with the thoughts in these messages; nothing as long as none were sent."""
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
        """Whether the fault is of the service's own making."""
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
        """Take in the turns that were added since the last look."""
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
    """The place at which the model's latest turn begins."""
    place = len(messages) - 1
    while place >= 0 and messages[place]["role"] != "assistant":
        place -= 1
    while place > 0 and messages[place - 1]["role"] == "assistant":
        place -= 1
    return place


def _thoughts(messages: list[dict[str, Any]]) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """The thoughts in the messages, each with the place of its message and its own."""
    for place, message in enumerate(messages):
        if message["role"] == "assistant" and isinstance(message["content"], list):
            for number, block in enumerate(message["content"]):
                if block["type"] in _SIGNED_MEMBERS:
                    yield place, number, block
