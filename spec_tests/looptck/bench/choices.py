"""What a request says about calls: which tools the model may call, whether it has to, and how many in a turn."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from looptck.bench.answering import FORCES, NAMES, one_at_most
from looptck.bench.run import Run
from looptck.values.frozen import dataclass
from looptck.values.transcript import Received
from looptck.wires import WIRES

Wanted = str | Mapping[str, str]
"""A choice of the caller, as the case has it."""
SINGLE: Mapping[str, str] = {
    "openai-chat": '"parallel_tool_calls": false',
    "openai-responses": '"parallel_tool_calls": false',
    "anthropic-messages": '"disable_parallel_tool_use": true in its tool_choice',
}
"""How a request of each wire forbids several calls in a turn."""
_MODES = {"auto": "auto", "required": "any", "none": "none"}


@dataclass(frozen=True, slots=True)
class Chosen:
    """The choice of a request."""

    callable: frozenset[str]
    """The own names of the case's tools that the model may call."""
    forced: bool
    """Whether it has to call a tool."""
    single: bool
    """Whether its turn may have one call at most."""
    words: str
    """What the request says, for people."""

    def is_of(self, wanted: Wanted, tools: Collection[str], *, answers_by_call: bool) -> bool:
        """Whether a caller with these tools has chosen this, in this form or in another that comes to the same.

        ``answers_by_call``: the loop has an answer tool, so the model has to call something where it is free to answer.
        """
        if isinstance(wanted, Mapping):
            return self.forced and self.callable == {wanted["tool"]}
        if wanted == "none":
            return not self.callable
        return self.callable == {*tools} and (self.forced == (wanted == "required") or answers_by_call)


def chosen(run: Run, received: Received) -> Chosen:
    """The choice of a request. Something that is no form of its wire is read as what it means; the judge refuses it."""
    body = received.body if isinstance(received.body, dict) else {}
    choice = body.get("tool_choice")
    kind = choice.get("type") if isinstance(choice, dict) else choice
    own = own_names(run, received)
    named, forced = {*own}, kind in FORCES
    if isinstance(choice, dict) and kind == "allowed_tools":
        listed = choice.get("allowed_tools") or choice
        named, forced = _names(listed.get("tools") or ()), listed.get("mode") == "required"
    elif isinstance(choice, dict) and kind in NAMES:
        named, forced = _names([choice]), True
    elif kind == "none":
        named = set()
    single = one_at_most(run.cell.wire, body) is not None
    may = {own.get(name, name) for name in named} & {*run.offered}
    return Chosen(frozenset(may), forced, single, _said(body, own))


def form(wire: str, wanted: Wanted) -> str:
    """How a request of this wire says a choice."""
    if not isinstance(wanted, Mapping):
        return json.dumps({"type": _MODES[wanted]} if wire == "anthropic-messages" else wanted)
    name = {"name": wanted["tool"]}
    forms: Mapping[str, Any] = {
        "openai-chat": {"type": "function", "function": name},
        "openai-responses": {"type": "function", **name},
        "anthropic-messages": {"type": "tool", **name},
    }
    return json.dumps(forms[wire])


def own_names(run: Run, received: Received) -> dict[str, str]:
    """The own name of each tool that a request offers, by the offered name; an answer tool has none of its own."""
    own = {tool.pointer: tool.name for tool in received.request.tools}
    offered = WIRES[run.cell.wire].service(True).read(received.body).tools
    return {tool.name: own.get(tool.pointer, tool.name) for tool in offered}


def _names(entries: Iterable[Any]) -> set[str]:
    """The names in choices, or in entries of a list of allowed tools, with or without a level between."""
    known = [entry for entry in entries if isinstance(entry, dict)]
    inner = [next((one[kind] for kind in NAMES if isinstance(one.get(kind), dict)), one) for one in known]
    return {str(one.get("name")) for one in inner}


def _said(body: Mapping[str, Any], own: Collection[str]) -> str:
    options = [f"{name} {json.dumps(body[name])}" for name in ("tool_choice", "parallel_tool_calls") if name in body]
    return f"has {' and '.join(options) or 'nothing about calls'}, and offers {', '.join(own) or 'no tool'}"
