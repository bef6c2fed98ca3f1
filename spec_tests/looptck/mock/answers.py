"""What a script is written with: the answers of the model, each in one short call.

`llm.plays(calls("weather", city="Paris"), says("It is sunny."))` is a script of two.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast, get_args

from looptck.catalogue.requirements import unknown
from looptck.provider.faults import Break, Cut, ErrorEvent, HttpError, Malformed, NoFinish, NotJson
from looptck.provider.gate import Gate
from looptck.provider.script import Hold, Step
from looptck.values.framing import PRESETS, Framing
from looptck.values.frozen import dataclass
from looptck.values.plain import amount
from looptck.values.turns import Call, Piece, Refusal, Stop, Text, Thinking, Turn

if TYPE_CHECKING:
    from looptck.mock.requests import Request

__all__ = ["Answer", "Item", "calls", "cut", "errs", "fails", "refuses", "says", "thinks"]

SERVER_ERROR = "The server had an error while processing your request."


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model answers to one request. Answers are added up: ``thinks("…") + says("…") + calls("weather")``."""

    step: Step

    def __add__(self, other: Answer | str) -> Answer:
        """One turn with the pieces of both, in this order."""
        if isinstance(other, str):
            other = says(other)
        one, two = self.turn, other.turn
        turn = Turn((*one.pieces, *two.pieces), two.stop or one.stop)
        return Answer(replace(self.step, turn=turn))

    @property
    def turn(self) -> Turn:
        """The turn of the model. Raises ValueError if the answer is an error without one."""
        if self.step.turn is None:
            raise ValueError(
                "an error status has no turn: nothing can be added to it, and it cannot be cut, held or framed"
            )
        return self.step.turn

    def framed(self, how: str | Framing = "natural", **fields: Any) -> Answer:
        """The answer as a stream that is cut in another way: a name such as ``single-bytes``, or fields of a framing.

        Raises:
            ValueError: there is no framing of this name, or a size is below 0.
        """
        assert self.turn
        if isinstance(how, str):
            if how not in PRESETS:
                raise ValueError(unknown("framing", how, list(PRESETS)))
            how = PRESETS[how]
        framing = how.but(**fields)
        if min(framing.fragment, framing.every) < 0:
            raise ValueError("fragment and every are sizes in characters and bytes: 0 or more")
        return Answer(replace(self.step, framing=framing))

    def held(self, gate: Gate, after: str | int | None = None) -> Answer:
        """The answer, which waits for a gate: before it begins, or in a stream after this text or this many events."""
        assert self.turn
        if after is None:
            return Answer(replace(self.step, before=gate))
        return Answer(replace(self.step, holds=(*self.step.holds, Hold(gate, after))))

    def with_ids(self, *ids: str) -> Answer:
        """The answer with these ids for its calls, in order. Raises ValueError where it has not as many calls."""
        if len(ids) != len(self.turn.calls):
            raise ValueError(f"{amount(len(ids), 'id')} for {amount(len(self.turn.calls), 'call')}")
        left = iter(ids)
        pieces = (replace(piece, id=next(left)) if isinstance(piece, Call) else piece for piece in self.turn.pieces)
        return Answer(replace(self.step, turn=replace(self.turn, pieces=tuple(pieces))))


Item = Answer | str | Callable[["Request"], Answer | str]
"""What a script takes: an answer, a text that the model says, or a function of the request that returns one of them."""


def answer_of(what: object) -> Answer:
    """The answer from its short form. Raises TypeError where there is none."""
    if isinstance(what, Answer):
        return what
    if isinstance(what, str):
        return says(what)
    raise TypeError(f"{what!r} is no answer of a model: write says(…), calls(…), fails(…) or a text")


def _answer(*pieces: Piece, stop: Stop | None = None) -> Answer:
    return Answer(Step(Turn(pieces, stop)))


def says(text: str = "", *, stop: Stop | None = None) -> Answer:
    """The model says this. ``stop``: why it ended if it was not done, such as ``length`` or ``content_filter``."""
    if stop is not None and stop not in get_args(Stop):
        raise ValueError(unknown("stop reason", stop, list(get_args(Stop))))
    return _answer(Text(text), stop=stop) if text else _answer(stop=stop)


def calls(tool: str, arguments: Mapping[str, Any] | str | None = None, /, **named: Any) -> Answer:
    """The model asks for a tool with these arguments, given by name, as a mapping, or as the text of their JSON.

    A text need not be JSON, as models do not always write it. Several calls of one turn are added up.
    """
    if isinstance(arguments, str):
        if named:
            raise TypeError("arguments are given as a text or by name, not as both")
        return _answer(Call(tool, arguments))
    return _answer(Call(tool, json.dumps({**(arguments or {}), **named}, ensure_ascii=False)))


def refuses(text: str) -> Answer:
    """The model declines to answer, with this text."""
    return _answer(Refusal(text))


def thinks(text: str, *, redacted: bool = False) -> Answer:
    """The model thinks this; what it then says or calls is added. Wires without thinking leave it out.

    ``redacted``: the service shows nothing of it but a signature.
    """
    return _answer(Thinking(text, redacted))


def fails(
    status: int = 500,
    message: str = SERVER_ERROR,
    *,
    code: str | None = None,
    retry_after: float | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """The service answers with an error status in its own format.

    ``code``: such as ``context_length_exceeded``; on Messages it is the type of the error. ``retry_after``: in seconds.
    """
    if not 400 <= status <= 599:
        raise ValueError(f"{status} is no status of an error")
    told = dict(headers or {})
    if retry_after is not None:
        told["retry-after"] = f"{retry_after:g}"
    return Answer(Step(None, fault=HttpError(status, tuple(told.items()), message, code)))


def cut(answer: Answer | str, place: float | Break = 0.5) -> Answer:
    """The answer, whose connection breaks: after this share of its bytes, or at a place in a stream.

    The places are ``last-piece``, ``before-finish`` and ``finish``: within the last piece of the last call or of the
    text, right before the finish reason, and within the event that has it.
    """
    whole = answer_of(answer)
    assert whole.turn
    if isinstance(place, str):
        if place not in get_args(Break):
            raise ValueError(unknown("place", place, list(get_args(Break))))
        return Answer(replace(whole.step, fault=Cut(place=place)))
    if not 0 <= place < 1:
        raise ValueError(f"{place} is no share of an answer: a number from 0 up to 1")
    return Answer(replace(whole.step, fault=Cut(place)))


def errs(answer: Answer | str, message: str = SERVER_ERROR, *, after: int | None = None) -> Answer:
    """The answer, whose stream ends in an error event: after this many events, or in place of the finish reason.

    A plain reply has status 500 instead.
    """
    whole = answer_of(answer)
    assert whole.turn
    return Answer(replace(whole.step, fault=ErrorEvent(after, message)))


_OTHER = {
    "no-finish": NoFinish(),
    "malformed": Malformed(0),
    "not-json": NotJson(),
}


def broken(answer: Answer | str, how: str) -> Answer:
    """The answer as a broken server or proxy sends it: ``no-finish``, ``malformed`` (a stream) or ``not-json``."""
    if how not in _OTHER:
        raise ValueError(unknown("fault", how, list(_OTHER)))
    return Answer(replace(answer_of(answer).step, fault=cast(Any, _OTHER[how])))
