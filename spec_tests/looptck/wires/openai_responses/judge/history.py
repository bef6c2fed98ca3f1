"""The rules on calls and their outputs.

A call is answered by one output with its ``call_id``, anywhere after it: there may be a message between them. Function
calls and custom calls are answered separately. Where the model itself gave one id to two calls, in one turn or in
several, that id may be answered twice. A search for tools that the client runs was seen answered by an item of its
own, and by the output of a function call. That a call is answered once is documented for compatible servers; of the
service itself no recording shows either.

This runs on every request, so it is one pass over the items; expensive steps run only once a fault is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from looptck.values.problem import Problem

RULES = {
    "every-call-is-answered": "Every call in the history has an output after it.",
    "outputs-answer-a-call": "An output names the call_id of an earlier call of its kind.",
    "one-output-per-call": "A call is answered once.",
}

_ANSWERS = {
    "function_call_output": "function_call",
    "custom_tool_call_output": "custom_tool_call",
}
"""By the type of an output: the type of the call that it answers."""

_WORDS = {"function_call": "function call", "custom_tool_call": "custom tool call"}


def problems(items: Sequence[dict[str, Any]], first: int, *, blind: bool = False) -> list[Problem]:
    """The problems between calls and outputs: outputs without a call come first, as in the service's replies.

    ``first``: how many of the items are stored ones, before the input. ``blind``: there may be calls that
    are not among the items, so that an output without one is not held against the request.
    """
    found: list[Problem] = []
    waiting: dict[tuple[str, str], list[int]] = {}  # the places of the calls without an output, by type and call_id
    searches: list[str] = []  # the ids of the client's searches without an output
    for place, item in enumerate(items):
        kind, name = item.get("type"), item.get("call_id", "")
        if kind in _WORDS:
            waiting.setdefault((kind, name), []).append(place)
        elif kind in _ANSWERS:
            asked = waiting.get((_ANSWERS[kind], name))
            if asked:
                asked.pop(0)
            elif kind == "function_call_output" and name in searches:
                searches.remove(name)
                waiting.setdefault(("function_call", name), [])
            elif asked is not None or not blind:
                found.append(_misplaced(name, _ANSWERS[kind], place - first, known=asked is not None))
        elif kind == "tool_search_call" and item.get("execution") == "client":
            searches.append(name)
    left = sorted((place, *call) for call, places in waiting.items() for place in places)
    return found + [_unanswered(kind, name, place - first) for place, kind, name in left]


def _misplaced(name: str, call: str, place: int, *, known: bool) -> Problem:
    """The problem of an output that answers no open call, the ``place``-th item of the input."""
    pointer = f"/input/{place}/call_id"
    if known:
        message = (
            f"Duplicate function_call_output for call_id '{name}'. Each function_call must have exactly one matching "
            "function_call_output."
        )
        return Problem("one-output-per-call", pointer, message)
    message = f"No tool call found for {_WORDS[call]} output with call_id {name}."
    return Problem("outputs-answer-a-call", pointer, message)


def _unanswered(call: str, name: str, place: int) -> Problem:
    """The problem of a call without an output; the place of a stored call is the whole input."""
    pointer = "/input" if place < 0 else f"/input/{place}"
    return Problem("every-call-is-answered", pointer, f"No tool output found for {_WORDS[call]} {name}.")
