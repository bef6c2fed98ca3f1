"""Solutions: writing the model's turns of ``agent-loop-010``, and reading the context in a request.

A Solution is one JSON document, ``{"meta": …, "calls": [Call…], "output": …}``, which the model writes as text (010:
Agent/Loop, The Execution Loop; 002: Agent/Tool). The loop decides how a request presents the context to the model, but
each message must be there as text or as JSON text: so checks find values by markers that no loop would write by itself,
and Error Messages by their members.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from looptck.bench.run import Run
from looptck.catalogue.agents import Tool
from looptck.values.frozen import dataclass
from looptck.values.history import Asked
from looptck.values.transcript import Received
from looptck.values.turns import Turn, says

ORDER = ("meta", "calls", "output")
"""The members of a Solution, in the order of the documents' examples."""
_JSON = json.JSONDecoder()


def activity(name: str, /, *, latent: bool = False, optional: Sequence[str] = (), **types: str) -> Tool:
    """A tool with parameters of these JSON types (``""``: of any), and no others.

    ``latent``: it has no Activity. ``optional`` parameters may be left out.
    """
    schema = {
        "type": "object",
        "properties": {parameter: {"type": type} if type else {} for parameter, type in types.items()},
        "required": [parameter for parameter in types if parameter not in optional],
        "additionalProperties": False,
    }
    return Tool(name, f"Does what {name} says.", schema, handled=not latent)


def call(
    tool: str,
    parameters: Mapping[str, Any] | None = None,
    /,
    *,
    to: str | None = None,
    method: str | None = None,
    instance: str | None = None,
    **meta: Any,
) -> dict[str, Any]:
    """A Call. ``to`` is its output path, ``method`` the way in which its result is combined with the value there.

    ``meta`` are further underscore keys without their underscore, such as ``output``, ``activity``.
    """
    known = {"_outputPath": to, "_outputMethod": method, "_instance": instance}
    return {
        "_tool": tool,
        **(parameters or {}),
        **{key: value for key, value in known.items() if value is not None},
        **{f"_{key}": value for key, value in meta.items()},
    }


def solution(
    *calls: Mapping[str, Any],
    output: Any = None,
    meta: Any = None,
    order: Sequence[str] = ORDER,
    escaped: bool = False,
) -> Turn:
    """A turn in which the model writes a Solution, as compact JSON.

    Members that ``order`` does not name are omitted, and so is ``meta`` if it is None. ``escaped``: characters
    beyond ASCII are written as escapes.
    """
    members = {"meta": meta, "calls": list(calls), "output": output}
    ordered = {name: members[name] for name in order if name != "meta" or meta is not None}
    return says(json.dumps(ordered, ensure_ascii=escaped, separators=(",", ":")))


def behind(turn: Turn, n: int) -> str:
    """The text of a Solution up to the end of its ``n``-th call, from 1.

    To hold the stream there: ``Step(turn, DEFAULT.but(fragment=1), holds=(Hold(gate, behind(turn, 1)),))``. With larger
    fragments the one in which the call ends also contains some of the text after it.

    Raises:
        ValueError: it has no such call, or is no Solution as `solution` writes them.
    """
    text = turn.text or ""
    try:
        return text[: next(islice(_ends(text), n - 1, None))]
    except (ValueError, IndexError, StopIteration):
        raise ValueError(f"there is no call {n} in the Solution {text}") from None


def within(turn: Turn, n: int) -> str:
    """The text of a Solution up to just before the closing brace of its ``n``-th call; see `behind`."""
    return behind(turn, n)[:-1]


@dataclass(frozen=True, slots=True)
class ErrorMessage:
    """An Error Message in a request. ``at`` is its index in `texts`."""

    at: int
    call: Any
    error: Any


def texts(request: Received) -> str:
    """All texts of a request's history, in order, joined by line ends."""
    return "\n".join(item.arguments if isinstance(item, Asked) else item.text for item in request.request.items)


def place(request: Received, marker: str) -> int | None:
    """The index of a marker's first occurrence in `texts`, or None. JSON text never escapes letters and digits."""
    at = texts(request).find(marker)
    return None if at < 0 else at


def embedded(request: Received) -> list[Any]:
    """The outermost JSON objects and arrays in `texts`, in order; JSON inside strings is not parsed."""
    return [value for _, value in _embedded(texts(request))]


def error_messages(request: Received) -> list[ErrorMessage]:
    """The Error Messages in `texts`, in order: objects with the members ``call`` and ``error``, at any depth.

    An example in the instructions counts too, so compare with those in request 1.
    """
    text = texts(request)
    found: list[ErrorMessage] = []
    at = text.find("{")
    while at >= 0:
        value, end = _decoded(text, at)
        if isinstance(value, dict) and {"call", "error"} <= value.keys():
            found.append(ErrorMessage(at, value["call"], value["error"]))
        else:
            end = at + 1
        at = text.find("{", end)
    return found


def misasked(run: Run) -> str | None:
    """What is wrong with a question of the confirmation hook, which has to have the call as the model wrote it."""
    for question in run.questions:
        if "_tool" not in question.call:
            posted = json.dumps({"call": question.call}, ensure_ascii=False)
            return f"a question has no `_tool`, {posted}; post the call as the model wrote it: confirm(case, call=…)"
    return None


def _ends(text: str) -> Iterator[int]:
    """The index of the end of each call in a compact Solution."""
    at = 1
    while text[at - 1 : at] in {"{", ","}:
        name, at = _JSON.raw_decode(text, at)
        if name == "calls":
            while text[at + 1] in "[,":
                at = _JSON.raw_decode(text, at + 2)[1] - 1
                yield at + 1
            return
        at = _JSON.raw_decode(text, at + 1)[1] + 1


def _embedded(text: str) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(text):
        value, end = _decoded(text, at) if text[at] in "{[" else (None, at)
        if end > at:
            yield at, value
        at = max(end, at + 1)


def _decoded(text: str, at: int) -> tuple[Any, int]:
    """The JSON value that begins at an index, and its end; None and the same index if there is none."""
    try:
        return _JSON.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at
