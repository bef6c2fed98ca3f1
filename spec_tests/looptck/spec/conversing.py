"""What a request carries of a conversation, said neutrally: questions, calls, results and answers, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from looptck.bench.checks import RunOverrides
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk
from looptck.catalogue.agents import Tool, agent
from looptck.values.frozen import dataclass
from looptck.values.history import Answered, Asked, Item, Said, same_arguments
from looptck.values.plain import MOST, plain
from looptck.values.transcript import Received
from looptck.values.turns import says
from looptck.values.verdicts import NotApplicable

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
        return self.times_in(item) > 0

    def times_in(self, item: Item) -> int:
        """How often a history item carries this piece. A loop may write a result down twice, as text and as JSON."""
        match item:
            case Said(role, text):
                return text.count(self.words) if ROLES.get(role) == self.what else 0
            case Asked(_, tool, arguments):
                return self.what == "call" and tool == self.words and same_arguments(arguments, self.arguments)
            case Answered(_, text):
                return self.what == "result" and self.words in text
        return 0


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


def stays(arguments: Mapping[str, Any]) -> None:
    """The arguments of ``add(a=1, b=2)``, approved with another ``a``, have the ``b`` of the model.

    Raises:
        AssertionError: with what a decision means, which a driver has to do for a loop that takes all arguments.
    """
    ran = plain(dict(arguments), MOST)
    assert 2 == arguments.get("b"), f"the decision names `a` alone, so `b` stays 2: the call ran with {ran}"


def accepted(received: Received) -> None:
    """The service accepts a request.

    Raises:
        AssertionError: it does not, with what it says.
        NotApplicable: it would have, had the model not reasoned, and another row is about that.
    """
    for problem in received.problems[:1]:
        if problem.unasked:
            raise NotApplicable(f"request {received.n} had reasoning whose content no request had asked for")
        raise AssertionError(f"the service refuses request {received.n}{problem.place}: {problem.reported}")


def returned(run: Run, text: str) -> None:
    """The loop has returned this text, whatever blanks are around it. NotReached if it returned none."""
    got = (run.value.text or "").strip()
    assert text == got, f"the answer is {text!r}, and the loop returned {got!r}"


def answered_later(scenario: Scenario, talk: Talk, **how: Unpack[RunOverrides]) -> None:
    """The calls of a run that has ended with a rejection are answered when the next question is asked.

    Raises:
        NotApplicable: the runs are no conversation, so there is no such question.
        AssertionError: the request is refused, or carries a call without a result.
    """
    if not talk.named:
        raise NotApplicable("the loop ends the run with a rejection, and has no conversation that shows the result")
    scenario.plays(says("It is noon."))
    request = talk.run("What time is it?", **how).request(1)
    accepted(request)
    open_ids = {one.id for one in request.request.asked} - {one.id for one in request.request.answers}
    assert not open_ids, f"the next question carries the call {min(open_ids)} without a result"


INSTRUCTIONS = Carried("instructions", "You are a helpful assistant.")
"""Of the agent `assistant`."""


def carried(items: Sequence[Item], wanted: Sequence[Carried]) -> None:
    """Each piece stands in the history once, and in this order. The results of one turn may stand in any order.

    Raises:
        AssertionError: with the first piece that does not.
    """
    places: Mapping[Carried, list[int]] = {
        piece: [at for at, item in enumerate(items) for _ in range(piece.times_in(item))] for piece in wanted
    }
    for piece, found in places.items():
        assert found, f"the request does not carry the {piece}"
        assert 1 == len(found), f"the request carries the {piece} {len(found)} times"
    latest = -1
    for piece in wanted:
        at = places[piece][0]
        assert at >= latest or "result" == piece.what, f"the request carries the {piece} before what was said earlier"
        latest = max(at, latest)
