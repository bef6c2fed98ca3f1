"""What a request carries of a conversation, said neutrally: questions, calls, results and answers, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from looptck.catalogue.agents import Tool, agent
from looptck.values.history import Answered, Asked, Item, Said, same_arguments
from looptck.values.transcript import Received

ROLES = {"system": "instructions", "developer": "instructions", "user": "question", "assistant": "answer"}


@dataclass(frozen=True, slots=True)
class Carried:
    """A piece of the conversation: `what` it is, and words or a call by which it is known."""

    what: str
    words: str
    arguments: str = ""

    def __str__(self) -> str:
        return f"{self.what} {self.words}"

    def is_in(self, item: Item) -> bool:
        """Whether a history item carries this piece. Ids do not count: the judge holds calls and results together."""
        match item:
            case Said(role, text):
                return ROLES.get(role) == self.what and self.words in text
            case Asked(_, tool, arguments):
                return self.what == "call" and tool == self.words and same_arguments(arguments, self.arguments)
            case Answered(_, text):
                return self.what == "result" and self.words in text
        return False


def question(words: str) -> Carried:
    """What a user has said."""
    return Carried("question", words)


def answer(words: str) -> Carried:
    """What the model has said."""
    return Carried("answer", words)


def call(tool: str, arguments: str) -> Carried:
    """A call; the arguments are JSON."""
    return Carried("call", tool, arguments)


def result(words: str) -> Carried:
    """The result of a call."""
    return Carried("result", words)


def words_of(items: Sequence[Item]) -> str:
    """All words of a history, of whatever the service has added to it too."""
    return "\n".join(f"{item.tool} {item.arguments}" if isinstance(item, Asked) else item.text for item in items)


def guarded(*names: str) -> list[Tool]:
    """The tools of the agent `assistant`, of which these need approval."""
    return [replace(tool, approval=tool.name in names) for tool in agent("assistant").tools]


def accepted(received: Received) -> None:
    """The service accepts a request. Raises AssertionError with what it says if it does not."""
    problems = received.problems
    assert not problems, f"the service refuses request {received.n}, at {problems[0].pointer}: {problems[0].reported}"


INSTRUCTIONS = Carried("instructions", "You are a helpful assistant.")
"""Of the agent `assistant`."""


def carried(items: Sequence[Item], wanted: Sequence[Carried]) -> None:
    """Each piece stands in the history once, and in this order. The results of one turn may stand in any order.

    Raises:
        AssertionError: with the first piece that does not.
    """
    places: Mapping[Carried, list[int]] = {
        piece: [at for at, item in enumerate(items) if piece.is_in(item)] for piece in wanted
    }
    for piece, found in places.items():
        assert found, f"the request does not carry the {piece}"
        assert 1 == len(found), f"the request carries the {piece} {len(found)} times"
    latest = -1
    for piece in wanted:
        at = places[piece][0]
        assert at >= latest or "result" == piece.what, f"the request carries the {piece} before what was said earlier"
        latest = max(at, latest)
