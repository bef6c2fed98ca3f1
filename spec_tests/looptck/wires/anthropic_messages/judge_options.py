"""The rules on the tools that a request offers."""

from __future__ import annotations

from typing import Any

from looptck.wires.problem import Problem

RULES = {
    "tool-names-are-unique": "No two tools have one name.",
    "choice-needs-tools": "A tool choice other than none comes only with tools.",
    "forced-tool-is-offered": "A tool choice that names a tool names one of the tools.",
}


def problems(body: dict[str, Any]) -> list[Problem]:
    """What the tools and the choice among them contradict."""
    found: list[Problem] = []
    tools = body.get("tools") or ()
    names = [tool.get("name") for tool in tools]
    if len(set(names)) < len(names):
        named = {name: place for place, name in enumerate(names)}
        twice = next((at for at, name in enumerate(names) if name is not None and named[name] != at), None)
        if twice is not None:
            found.append(Problem("tool-names-are-unique", f"/tools/{named[names[twice]]}", _TWICE))
    choice = body.get("tool_choice")
    if not choice or choice["type"] == "none":
        return found
    if not tools:
        words = "tool_choice: may only be specified while providing tools"
        found.append(Problem("choice-needs-tools", "/tool_choice", words))
    elif choice["type"] == "tool" and choice["name"] not in names and None not in names:
        words = f"tool_choice: Tool '{choice['name']}' not found in provided tools"
        found.append(Problem("forced-tool-is-offered", "/tool_choice/name", words))
    return found


_TWICE = "tools: Tool names must be unique."
