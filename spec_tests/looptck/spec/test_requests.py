"""What every request carries: the prompt, the tools, the mode, and all of the history so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from looptck.agents import Tool, agent
from looptck.checks import Implementation, requirement
from looptck.expected import agrees, alike, same_role
from looptck.handover import MODEL
from looptck.history import Asked, Offered, Said
from looptck.kit import Scene
from looptck.offers import described_otherwise, lost
from looptck.plain import MOST, plain
from looptck.run import Run
from looptck.turns import Call, calls, says


def _conversation(provider: Scene, implementation: Implementation) -> Run:
    """Two turns with calls, then the answer; raises NotReached unless all of it happened."""
    provider.plays(
        calls(Call.of("weather", {"city": "Paris"})),
        calls(Call.of("add", {"a": 1, "b": 2})),
        says("That is all."),
    )
    run = implementation.run("What is the weather?")
    run.request(3)
    return run


@requirement("prompt-reaches-the-model")
def test_prompt_comes_first(provider: Scene, implementation: Implementation) -> None:
    """The first request holds each message of the prompt once, in its role and order."""
    provider.plays(says("Hello."))

    run = implementation.run("What is the weather?")

    _holds_the_prompt(run, 1)


@requirement("prompt-reaches-the-model")
def test_earlier_turns(provider: Scene, implementation: Implementation) -> None:
    """A prompt with earlier turns, of the assistant too, stands whole in every request."""
    provider.plays(calls(Call.of("ping")), says("Still Reykjavík."))

    run = implementation.run("Are you sure?", agent="recalling")

    run.request(2)
    for received in run.requests:
        _holds_the_prompt(run, received.n)


@requirement("prompt-reaches-the-model")
@pytest.mark.parametrize("name", ["assistant", "bare"])
def test_braces(provider: Scene, implementation: Implementation, name: str) -> None:
    """What looks like a place in a template, or in a format string, is text like any other."""
    provider.plays(says("Hello."))

    run = implementation.run('What do {city}, {{question}}, ${x}, %s and {"a": 1} mean, at 100%?', agent=name)

    _holds_the_prompt(run, 1)


def _holds_the_prompt(run: Run, n: int) -> None:
    """A loop may say more than the prompt, and may put several messages of one role into one."""
    said = [item for item in run.request(n).request.items if isinstance(item, Said)]
    reached = (0, 0)
    for role, text in run.prompt:
        places = [
            (place, item.text.index(text))
            for place, item in enumerate(said)
            if same_role(role, item.role) and text in item.text
        ]
        among = f"{plain(text, MOST)}, from {role}, among {plain(said, MOST)}"
        assert places, f"request {n} is without {among}"
        assert 1 == len(places), f"request {n} has {len(places)} times {among}"
        assert reached <= places[0], f"request {n} has before what came earlier {among}"
        reached = places[0]
    if n == 1:
        assert len(said) == len(run.request(n).request.items), "the first request holds more than messages"


@requirement("history-only-grows")
def test_history_grows(provider: Scene, implementation: Implementation) -> None:
    """Each request begins with the history of the one before."""
    run = _conversation(provider, implementation)

    for earlier, later in zip(run.requests, run.requests[1:], strict=False):
        before = earlier.request.items
        assert list(map(alike, before)) == list(map(alike, later.request.items[: len(before)]))


@requirement("requests-are-well-formed")
def test_requests_are_accepted(provider: Scene, implementation: Implementation) -> None:
    """The judge has nothing against any request of a conversation."""
    provider.plays(
        calls(Call.of("weather", {"city": "Paris"}), Call.of("ping")),
        calls(Call.of("add", {"a": 1, "b": 2}), text="Now the sum."),
        says("That is all."),
    )

    run = implementation.run("What is the weather?")

    run.request(1)
    for received in run.requests:
        told = [f"request {received.n} at {p.pointer}: {p.message} ({p.rule})" for p in received.problems]
        assert not told, "\n".join(told)
    run.request(3)


@requirement("requests-are-well-formed")
def test_neither_tools_nor_system(provider: Scene, implementation: Implementation) -> None:
    """A prompt of one question, without tools, makes a request that the service accepts too."""
    provider.plays(says("Hello."))

    run = implementation.run("Who are you?", agent="bare")

    told = [f"at {p.pointer}: {p.message} ({p.rule})" for p in run.request(1).problems]
    assert not told, "\n".join(told)
    run.delivered(1)


@requirement("tools-are-offered-every-time")
def test_tools_are_offered(provider: Scene, implementation: Implementation) -> None:
    """Names, descriptions and parameters of all tools stand in each request."""
    run = _conversation(provider, implementation)

    for received in run.requests:
        offered = {tool.name: tool for tool in received.request.tools}
        for tool in agent("assistant").tools:
            assert tool.name in offered, f"request {received.n} offers {sorted(offered)}"
            assert tool.description in offered[tool.name].description, f"request {received.n}: {offered[tool.name]}"
            assert set(tool.parameters["properties"]) == _names(offered[tool.name].parameters)


@requirement("tools-are-offered-every-time")
def test_names_with_hyphens_are_offered(provider: Scene, implementation: Implementation) -> None:
    """Names that every service takes are offered as they are, hyphens and capitals too."""
    provider.plays(says("Hello."))

    run = implementation.run(agent="hyphens")

    offered = {tool.name for tool in run.request(1).request.tools}
    missing = [tool.name for tool in agent("hyphens").tools if tool.name not in offered]
    assert not missing, f"{', '.join(missing)} is not offered; the request offers {', '.join(sorted(offered))}"


def _member(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "description": f"Takes a {kind}.", **more}


def _tool(name: str, required: Sequence[str], /, **members: dict[str, Any]) -> Tool:
    return Tool(name, f"Does {name}.", {"type": "object", "properties": members, "required": [*required]})


AWKWARD = _tool(
    "file",
    ("title", "type", "properties", "required", "description", "items", "enum"),
    title=_member("string"),
    type=_member("string"),
    properties=_member("boolean"),
    required=_member("boolean"),
    description=_member("string"),
    items=_member("integer"),
    enum=_member("number"),
)
"""A tool whose parameters are called like words of JSON Schema."""
SOME = _tool(
    "choose",
    ("who",),
    who=_member("string"),
    speed=_member("string", enum=["slow", "usual", "fast"]),
    count=_member("integer"),
    where={
        "type": "object",
        "description": "The place.",
        "properties": {"city": _member("string"), "floor": _member("integer")},
        "required": ["city"],
    },
)
"""A tool of whose parameters, and of what lies deeper, only some are required."""
SCHEMAS = {"nested": agent("clerk").tools, "awkward-names": [AWKWARD], "some-required": [SOME]}


def _offers(provider: Scene, implementation: Implementation, tools: Sequence[Tool]) -> Iterator[tuple[Tool, Offered]]:
    """Each of these tools as the first request offers it."""
    provider.plays(says("Hello."))
    run = implementation.run(tools=tools)
    offered = {tool.name: tool for tool in run.request(1).request.tools}
    for tool in tools:
        assert tool.name in offered, f"offered are {sorted(offered)}"
        yield tool, offered[tool.name]


@requirement("offered-schema-is-the-declared-one")
@pytest.mark.parametrize("tools", SCHEMAS.values(), ids=SCHEMAS)
def test_schemas_are_offered(provider: Scene, implementation: Implementation, tools: Sequence[Tool]) -> None:
    """Types, requirements, choices, members of members and items of lists are those that the tools declare."""
    for tool, offered in _offers(provider, implementation, tools):
        found = lost(tool.parameters, offered.parameters, strict=offered.strict)
        assert not found, f"{tool.name}: {found[0]}"


@requirement("parameter-descriptions-are-offered")
@pytest.mark.parametrize("tools", SCHEMAS.values(), ids=SCHEMAS)
def test_descriptions_are_offered(provider: Scene, implementation: Implementation, tools: Sequence[Tool]) -> None:
    """The description of each parameter stands in what is offered, alone or with more beside it."""
    for tool, offered in _offers(provider, implementation, tools):
        found = described_otherwise(tool.parameters, offered.parameters)
        assert not found, f"{tool.name}{found[0]}"


@requirement("open-schemas-are-offered")
def test_open_schemas_are_offered(provider: Scene, implementation: Implementation) -> None:
    """An object that takes any members is not closed, and a tool that says nothing of members is there."""
    for tool, offered in _offers(provider, implementation, agent("archive").tools):
        found = lost(tool.parameters, offered.parameters, strict=offered.strict)
        assert not found, f"{tool.name}: {found[0]}"


@requirement("requests-ask-for-the-right-mode")
def test_stream_flag(provider: Scene, implementation: Implementation) -> None:
    """The field ``stream`` follows the cell in every request."""
    run = _conversation(provider, implementation)

    assert {implementation.cell.stream} == {received.request.stream for received in run.requests}


@requirement("model-name-is-sent")
def test_model_name(provider: Scene, implementation: Implementation) -> None:
    """The field ``model`` is the one that the case named."""
    run = _conversation(provider, implementation)

    assert {MODEL} == {received.request.model for received in run.requests}


@requirement("arguments-are-echoed-as-given")
def test_arguments_are_echoed(provider: Scene, implementation: Implementation) -> None:
    """Odd but legal JSON comes back as the same value; whether as the same text is recorded."""
    written = """{ "speed": "fast", "customer": {"name": "caf\\u00e9 \\u2028 \\"quoted\\"",  "known": true},
        "lines": [ {"item": "", "count": 1, "price": 1.50}, {"price": 1e3, "item": "\\/", "count": 0} ] }"""
    provider.plays(calls(Call("order", written)), says("Ordered."))

    run = implementation.run(agent="clerk")

    echoed = run.echoed(1)
    assert ["order"] == [asked.tool for asked in echoed]
    assert agrees(Asked(echoed[0].id, "order", written), echoed[0]), echoed[0].arguments


@requirement("text-beside-calls-is-echoed")
def test_text_beside_calls(provider: Scene, implementation: Implementation) -> None:
    """The text of a turn with calls stands in the next request."""
    provider.plays(calls(Call.of("ping"), text="One moment."), says("Done."))

    run = implementation.run()

    run.delivered(1)
    said = [item.text.strip() for item in run.request(2).request.items if isinstance(item, Said)]
    assert "One moment." in said


def _names(parameters: object) -> set[str]:
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    return set(properties or {})
