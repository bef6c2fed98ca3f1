"""Traits of requests: what a loop sends to the service beyond its caller's input."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from looptck.bench.run import Run
from looptck.catalogue.agents import agent
from looptck.catalogue.traits import trait
from looptck.spec.offered_names import offered, weather
from looptck.suite.asking import Loop
from looptck.values.history import Said, same_value
from looptck.values.transcript import Received
from looptck.values.turns import says
from looptck.values.verdicts import NotReached

MINIMUM = {
    "openai-chat": {"model", "messages", "tools", "stream"},
    "openai-responses": {"model", "input", "instructions", "tools", "stream"},
    "anthropic-messages": {"model", "messages", "system", "tools", "stream", "max_tokens"},
}
"""The members that carry the caller's input, and those that the service requires."""
WORD = re.compile(r"[a-z][a-z_.-]{0,30}")
"""A value that is a keyword of the API, and not an id."""
TOP = frozenset({"/system", "/instructions"})


def _run(loop: Loop) -> Run:
    return loop.once("answer", lambda: loop.plays(says("Hello.")))


def _first(loop: Loop) -> Received:
    return _run(loop).request(1)


def _body(loop: Loop) -> dict[str, Any]:
    body = _first(loop).body
    return body if isinstance(body, dict) else {}


@trait("added-members")
def test_added_members(loop: Loop) -> None:
    """The members of the first request, with their values except for texts."""
    body = _body(loop)
    usual = MINIMUM[loop.cell.wire] - {"max_tokens"}
    members = ", ".join(f"{name}={_stable(value)}" for name, value in sorted(body.items()) if name not in usual)
    loop.answers("some" if body.keys() - MINIMUM[loop.cell.wire] else "none", members)


def _stable(value: Any) -> str:
    """A form of a value that is the same in every run."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}={_stable(one)}" for name, one in sorted(value.items())) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_stable, value)) + "]"
    return "…" if isinstance(value, str) and not WORD.fullmatch(value) else json.dumps(value)


@trait("tool-choice")
def test_tool_choice(loop: Loop) -> None:
    """The member ``tool_choice`` of the first request."""
    choice = _body(loop).get("tool_choice")
    if choice is None:
        loop.answers("not-said")
    else:
        kind = choice.get("type") if isinstance(choice, dict) else choice
        loop.answers("auto" if kind == "auto" else "other", json.dumps(choice))


@trait("parallel-calls-option")
def test_parallel_calls(loop: Loop) -> None:
    """``parallel_tool_calls``, or on Messages ``disable_parallel_tool_use``."""
    body = _body(loop)
    choice = body.get("tool_choice")
    disabled = choice.get("disable_parallel_tool_use") if isinstance(choice, dict) else None
    allowed = body.get("parallel_tool_calls", None if disabled is None else not disabled)
    loop.answers("not-said" if allowed is None else "allowed" if allowed else "forbidden")


@trait("stored")
def test_stored(loop: Loop) -> None:
    """The member ``store`` of the first request."""
    kept = _body(loop).get("store")
    loop.answers("not-said" if kept is None else "to-be-kept" if kept else "not-to-be-kept")


@trait("offered-tools")
def test_offered_tools(loop: Loop) -> None:
    """The names of the tools in the first request; the kinds of tools without a name."""
    given = [tool.name for tool in agent("assistant").tools]
    offered = [_function(tool).get("name") or tool.get("type") for tool in _tools(loop)]
    extra = [str(name) for name in offered if name not in given]
    missing = [name for name in given if name not in offered]
    name = "fewer" if missing else "more" if extra else "those-of-the-caller"
    loop.answers(name, ", ".join([*(f"+{one}" for one in extra), *(f"-{one}" for one in missing)]))


def _tools(loop: Loop) -> list[dict[str, Any]]:
    tools = _body(loop).get("tools")
    return [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []


def _function(tool: dict[str, Any]) -> dict[str, Any]:
    """The object with a tool's name and parameters; on Chat Completions it is nested."""
    function = tool.get("function")
    return function if isinstance(function, dict) else tool


@trait("offered-schemas")
def test_offered_schemas(loop: Loop) -> None:
    """The schemas of the tools in the first request, compared with the declared ones."""
    offered = {tool.name: tool.parameters for tool in _first(loop).request.tools}
    given = {tool.name: tool.parameters for tool in agent("assistant").tools if tool.name in offered}
    signs = [one for name, schema in given.items() for one in _differences(_lean(schema), _lean(offered[name]), "")]
    name = "otherwise" if any(one[0] != "+" for one in signs) else "with-more" if signs else "as-given"
    loop.answers(name, ", ".join(dict.fromkeys(signs)))


def _differences(given: Any, offered: Any, place: str) -> Iterator[str]:
    """The members of a schema that are added (+), missing (-) or changed (≠)."""
    if not isinstance(given, dict) or not isinstance(offered, dict):
        if not same_value(given, offered):
            yield f"≠{place}"
        return
    for name in sorted({*given, *offered}):
        if name not in given:
            yield f"+{place}/{name}"
        elif name not in offered:
            yield f"-{place}/{name}"
        else:
            yield from _differences(given[name], offered[name], f"{place}/{name}")


def _lean(schema: Any) -> Any:
    """A schema without an empty list of required members."""
    if isinstance(schema, dict) and schema.get("required") == []:
        return {name: value for name, value in schema.items() if name != "required"}
    return schema


@trait("illegal-name")
def test_illegal_name(loop: Loop) -> None:
    """A tool has a dot in its name, which no service allows."""
    own = "weather.today"
    run = loop.plays(says("Hello."), tools=[weather(own)])
    if not run.requests:
        loop.plays(says("Hello."), tools=[weather("weather")]).request(1)
        if not run.failed:
            raise NotReached(f"nothing was sent, and the loop {run.outcome}")
        loop.answers("error-for-the-caller", run.outcome)
        return
    match offered(loop.cell, run.request(1).body, [own]):
        case []:
            loop.answers("left-out")
        case [(name, _), *_]:
            loop.answers("as-given" if name == own else "renamed", name)


@trait("strict-tools")
def test_strict_tools(loop: Loop) -> None:
    """The member ``strict`` of the tools in the first request."""
    said = [_function(tool).get("strict") for tool in _tools(loop)]
    kinds = {"not-said" if one is None else "strict" if one is True else "not-strict" for one in said} or {"not-said"}
    loop.answers(kinds.pop() if len(kinds) == 1 else "mixed")


@trait("added-text")
def test_added_text(loop: Loop) -> None:
    """The texts of the first request, except for those of the prompt."""
    run = _run(loop)
    left = "\n".join(item.text for item in run.request(1).request.items if isinstance(item, Said))
    missing = []
    for _, text in run.prompt:
        missing += [] if text in left else [text]
        left = left.replace(text, "", 1)
    loop.answers("fewer" if missing else "some" if left.strip() else "none", missing[0] if missing else left.strip())


@trait("system-prompt")
def test_system_prompt(loop: Loop) -> None:
    """The place of the prompt's first message."""
    run = _run(loop)
    text = run.prompt[0][1]
    for item in run.request(1).request.items:
        if isinstance(item, Said) and text in item.text and item.role in {"system", "developer", "user"}:
            loop.answers("top-level" if item.pointer in TOP else f"role-{item.role}", item.pointer)
            return
    loop.answers("nowhere")


@trait("usage-of-a-stream")
def test_usage_of_a_stream(loop: Loop) -> None:
    """The member ``stream_options`` of the first request."""
    options = _body(loop).get("stream_options")
    asked = isinstance(options, dict) and options.get("include_usage") is True
    loop.answers("asked-for" if asked else "not-asked-for")


@trait("user-agent")
def test_user_agent(loop: Loop) -> None:
    """The header ``User-Agent`` of the first request."""
    name = _first(loop).headers.get("user-agent", "")
    loop.answers("named" if name else "not-named", name)
