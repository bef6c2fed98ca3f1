"""The model's output: the turns of the declared cases as text in the format of Hermes models.

This format (a call is JSON between ``<tool_call>`` and ``</tool_call>``, thinking is between ``<think>`` and
``</think>``) is one of those that inference servers parse into calls and thinking.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from looptck.bench.cases import Case, Record
from looptck.values.frozen import dataclass
from looptck.values.turns import Call, Piece, Text, Thinking, Turn


@dataclass(frozen=True, slots=True)
class Scenario:
    """A conversation: the model knows it by the user's question."""

    name: str
    question: str
    turns: tuple[str, ...]
    """The model's output in each turn."""


class Unwritable(ValueError):
    """A turn that no model output can produce, such as one with a hosted tool."""


def scenarios(cases: Mapping[str, Case]) -> list[Scenario]:
    """The scenarios of the cases with `record`, in the order of their names.

    Raises:
        Unwritable: one of them has a turn that a model cannot write; with its name.
    """
    recorded = [(case, case.record) for _, case in sorted(cases.items()) if case.record is not None]
    return [Scenario(case.name, case.question, tuple(_turns(case, record))) for case, record in recorded]


def _turns(case: Case, record: Record) -> Iterator[str]:
    for number, step in enumerate(case.steps, 1):
        turn = step.turn or Turn()
        try:
            yield written(turn, "" if turn.calls else record.stop or "")
        except Unwritable as error:
            raise Unwritable(
                f"turn {number} of the case {case.name}, which therefore cannot have `record`: {error}"
            ) from None


def written(turn: Turn, stop: str = "") -> str:
    """The text of a turn. With a stop sequence it goes on past the sequence, which the server should never show.

    A turn that the token limit cut ends where the limit falls, be it in the middle of a call.
    """
    text = "".join(_piece(piece, turn.pieces[:at]) for at, piece in enumerate(turn.pieces))
    if turn.stop == "length" and turn.calls and not _whole(turn.calls[-1]):
        text = text.removesuffix(_CALL_ENDS)
    return f"{text}{stop} This is never to be seen." if stop else text


_CALL_ENDS = "}\n</tool_call>"


def _piece(piece: Piece, before: tuple[Piece, ...]) -> str:
    match piece:
        case Text(text):
            return text
        case Thinking(text, redacted=False):
            return f"<think>{text}</think>"
        case Call(tool, arguments, custom=False):
            apart = "\n" if before and isinstance(before[-1], Call) else ""
            return f'{apart}<tool_call>\n{{"name": {json.dumps(tool)}, "arguments": {arguments}{_CALL_ENDS}'
        case _:
            raise Unwritable(f"a model cannot write {piece}")


def _whole(call: Call) -> bool:
    try:
        json.loads(call.arguments)
    except ValueError:
        return False
    return True
