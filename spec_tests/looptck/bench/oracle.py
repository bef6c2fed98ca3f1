"""The expected history of a request, computed from the script and the results of the tools.

The oracle is independent of any loop: the history is the prompt, then every delivered turn with calls (or one to be
resumed) as its wire echoes it, each followed by one result for each of its calls, in call order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from typing import Any

from looptck.values.frozen import dataclass
from looptck.values.history import (
    Answered,
    Asked,
    Item,
    Opaque,
    Said,
    holds,
    leaves,
    parsed,
    same_arguments,
    same_value,
    spelled,
)
from looptck.values.jsontext import canonical
from looptck.values.outcome import shortened
from looptck.values.transcript import ByKind
from looptck.values.turns import Call, Turn

ANY = None
"""Matches any text, for texts that the documents leave open, such as the wording of an error."""


@dataclass(frozen=True, slots=True)
class Owed:
    """The result that is owed for a call: its text, or ANY.

    Two calls of one turn with the same tool and arguments are twins. A loop may run them in parallel, and the kit
    cannot see which run belongs to which call; so the result of one is accepted for the other.
    """

    id: str
    text: str | None
    of_twins: frozenset[str | None] = frozenset()
    others: frozenset[str] = field(default=frozenset(), compare=False)
    """What the other calls of the turn returned: a result that has one of these beside its own is none of this call."""


TELLING = 8
"""The fewest characters of a text that no wrapping has by chance, as it has words such as ``ok``."""

Wanted = Said | Asked | Opaque | Owed

Echo = Callable[[Turn], list[Item]]
"""A turn as a request carries it."""

RESUMED = frozenset({"pause", "compaction"})
"""The stop reasons after which the next request carries the turn unchanged, without results."""


@dataclass(slots=True)
class Ran:
    """A tool run of the transcript: the tool, its arguments and its answer (None: it has not ended)."""

    tool: str
    arguments: Any
    answer: dict[str, Any] | None = None
    began: float = 0.0
    ended: float | None = field(default=None)
    by_kind: ByKind | None = None
    """None: the tool's handler ran it."""


def items(prompt: Sequence[tuple[str, str]], turns: Sequence[Turn], ran: Sequence[Ran], echo: Echo) -> list[Wanted]:
    """The history after these turns."""
    wanted: list[Wanted] = [Said(role, text) for role, text in prompt]
    left = list(ran)
    for turn in turns:
        resumed = turn.stopped in RESUMED
        if not turn.calls and not resumed:
            continue
        wanted += [item for item in echo(turn) if not isinstance(item, Answered)]
        if not resumed:
            wanted += _owed(turn.calls, left)
    return wanted


def _owed(calls: Sequence[Call], left: list[Ran]) -> list[Owed]:
    texts = [_text(call.tool, call.arguments, left) for call in calls]
    return [
        Owed(
            call.id or "",
            texts[place],
            frozenset(
                text
                for other, text in zip(calls, texts, strict=True)
                if other is not call and other.tool == call.tool and same_arguments(other.arguments, call.arguments)
            ),
            frozenset(
                text for text in texts if text and len(text) >= TELLING and text not in {texts[place], *_leaves(call)}
            ),
        )
        for place, call in enumerate(calls)
    ]


def _leaves(call: Call) -> Iterator[str]:
    """The texts in the arguments of a call, which a wrapping may repeat."""
    with contextlib.suppress(ValueError):
        yield from leaves(parsed(call.arguments))


def _text(tool: str, arguments: str, left: list[Ran]) -> str | None:
    """The result of a call: that of the first run of this tool with these arguments that belongs to no call yet."""
    for run in left:
        if run.tool == tool and spelled(arguments) == canonical(run.arguments):
            left.remove(run)
            value = (run.answer or {}).get("value")
            return value if isinstance(value, str) else ANY
    return ANY


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference between a history and the expected one."""

    pointer: str
    expected: str
    got: str


def difference(wanted: Sequence[Wanted], got: Sequence[Item]) -> Difference | None:
    """The first difference between a request's history and the expected one; None if they are equal."""
    for place, want in enumerate(wanted):
        if place >= len(got):
            return Difference("the end of the history", describe(want), "nothing: the history ends here")
        if not agrees(want, got[place]):
            return Difference(got[place].pointer, describe(want), describe(got[place]))
    if len(got) > len(wanted):
        extra = got[len(wanted)]
        return Difference(extra.pointer, "nothing: the history ends here", describe(extra))
    return None


def agrees(want: Wanted | Answered, item: Item) -> bool:
    """Whether a history item is the expected one."""
    match want, item:
        case Asked(id, tool, arguments), Asked():
            return (id, tool) == (item.id, item.tool) and same_arguments(arguments, item.arguments)
        case Owed(id, text, of_twins, others), Answered():
            texts = of_twins | {text}
            if id != item.id or not any(text is ANY or holds(item.text, text) for text in texts):
                return False
            own = [text for text in texts if text is not ANY]
            strange = (one for one in others if not any(one in text for text in own))
            return ANY in texts or not any(holds(item.text, one) for one in strange)
        case Opaque(kind, value), Opaque():
            return kind == item.kind and same_value(value, item.value)
        case Said(role, text), Said():
            return same_role(role, item.role) and text.strip() == item.text.strip()
        case _:
            return False


def same_role(one: str, other: str) -> bool:
    """Whether two roles are the same: newer models call ``system`` ``developer``."""
    return one == other or {one, other} == {"system", "developer"}


def alike(item: Item) -> Item:
    """A history item with its arguments spelled canonically."""
    return replace(item, arguments=spelled(item.arguments)) if isinstance(item, Asked) else item


def describe(piece: Wanted | Item) -> str:
    """A short description of a history item."""
    if isinstance(piece, Owed):
        return f"result of {piece.id}" + (", any text" if piece.text is ANY else f": {shortened(piece.text)}")
    return str(piece)
