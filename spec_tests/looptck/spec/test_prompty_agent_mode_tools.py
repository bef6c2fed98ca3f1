"""Profile ``prompty-agent-mode``: agents from their files, strict tools, plain and coroutine functions as tools."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from looptck.agents import Tool, agent
from looptck.checks import Implementation, on, requirement
from looptck.expectations import answers, tools_ran
from looptck.expected import agrees
from looptck.handover import MODEL
from looptck.history import Offered, Said
from looptck.kit import Scene
from looptck.run import Run
from looptck.turns import Call, calls, says


def _loaded(provider: Scene, implementation: Implementation, question: str | None) -> Run:
    """A run of the guide as a file, with one round of tools."""
    provider.plays(calls(Call.of("clock", {"zone": "America/Lima"})), says("Noon."))
    return implementation.run(question, agent="guide", as_file=True)


@requirement("mode-agent-file-is-the-prompt")
def test_prompt_of_a_file(provider: Scene, implementation: Implementation) -> None:
    """The first request holds the file's system message and the question, and nothing else."""
    run = _loaded(provider, implementation, "What time is it in Lima?")

    items = run.request(1).request.items
    assert len(run.prompt) == len(items)
    assert all(agrees(Said(role, text), item) for (role, text), item in zip(run.prompt, items, strict=True)), items


@requirement("mode-functions-run-for-a-loaded-agent")
def test_functions_of_a_loaded_agent(provider: Scene, implementation: Implementation) -> None:
    """The function that was given for the run runs, and the model reads what it returned."""
    run = _loaded(provider, implementation, "What time is it in Lima?")

    tools_ran(run, [{"clock": {"zone": "America/Lima"}}])
    answers(run, 1)
    assert "Noon." == run.value.text


@requirement("mode-input-default-is-used")
def test_input_default(provider: Scene, implementation: Implementation) -> None:
    """Without a question the user asks what the file has for that case; with one the default is gone."""
    default = _loaded(provider, implementation, None)
    given = _loaded(provider, implementation, "What time is it in Lima?")

    assert ["Is it raining in Lima?"] == _asked(default)
    assert ["What time is it in Lima?"] == _asked(given)


def _asked(run: Run) -> list[str]:
    said = [item for item in run.request(1).request.items if isinstance(item, Said)]
    return [item.text.strip() for item in said if item.role == "user"]


@requirement("mode-environment-default-is-used")
def test_environment_default(provider: Scene, implementation: Implementation) -> None:
    """The file takes the model's id from a variable that nobody sets."""
    run = _loaded(provider, implementation, "What time is it in Lima?")

    run.request(2)
    assert {MODEL} == {received.request.model for received in run.requests}


def _offered(run: Run, n: int = 1) -> dict[str, Offered]:
    return {tool.name: tool for tool in run.request(n).request.tools}


def _schema(tool: Offered) -> dict[str, Any]:
    """What is looked for in the parameters."""
    schema = tool.parameters if isinstance(tool.parameters, dict) else {}
    return {
        "properties": schema.get("properties") or {},
        "required": schema.get("required") or [],
        "additionalProperties": schema.get("additionalProperties"),
    }


def _described(properties: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Types and descriptions of parameters, by name."""
    return {name: (one.get("type"), one.get("description")) for name, one in properties.items()}


@requirement("mode-declared-tools-are-offered")
def test_declared_tools(provider: Scene, implementation: Implementation) -> None:
    """Each request has both tools of the file; the one that is not strict requires what it says and no more."""
    run = _loaded(provider, implementation, "What time is it in Lima?")

    run.request(2)
    for received in run.requests:
        offered = _offered(run, received.n)
        assert {tool.name for tool in agent("guide").tools} == offered.keys()
        for tool in agent("guide").tools:
            assert tool.description == offered[tool.name].description
            described = _described(_schema(offered[tool.name])["properties"])
            assert _described(tool.parameters["properties"]) == described
        assert ["zone"] == _schema(offered["clock"])["required"]


@requirement("mode-declared-strict-tool-is-strict")
def test_declared_strict_tool(provider: Scene, implementation: Implementation) -> None:
    """Of two tools in one file one is strict: its schema is closed, and requires its parameters."""
    run = _loaded(provider, implementation, "What time is it in Lima?")

    offered = _offered(run)
    assert "forecast" in offered
    schema = _schema(offered["forecast"])
    assert schema["additionalProperties"] is False
    assert {"city", "days"} == set(schema["required"])


CITY = {"type": "string", "description": "The city's name."}
DAYS = {"type": "integer", "description": "How many days ahead."}
FORECAST = Tool(
    "forecast",
    "Tells the weather of a city.",
    {"type": "object", "properties": {"city": CITY, "days": DAYS}, "required": ["city", "days"]},
    strict=True,
)
LAX = replace(FORECAST, name="lax_forecast", strict=False)
OPTIONAL = replace(FORECAST, parameters={**FORECAST.parameters, "required": ["city"]})


def _with(provider: Scene, implementation: Implementation, *tools: Tool) -> dict[str, Offered]:
    """The first request's tools; all of the run's stand in it."""
    provider.plays(says("Done."))
    offered = _offered(implementation.run(tools=tools))
    assert {tool.name for tool in tools} == offered.keys()
    return offered


@requirement("mode-strict-schema-is-closed")
def test_closed_schema(provider: Scene, implementation: Implementation) -> None:
    """The schema says that there are no further properties, beside a tool that is not strict too."""
    offered = _with(provider, implementation, LAX, FORECAST)

    assert _schema(offered["forecast"])["additionalProperties"] is False


@requirement("mode-strict-schema-requires-its-parameters")
def test_required_parameters(provider: Scene, implementation: Implementation) -> None:
    """Both parameters stand in the schema as they were declared, and are required."""
    schema = _schema(_with(provider, implementation, FORECAST)["forecast"])

    assert _described({"city": CITY, "days": DAYS}) == _described(schema["properties"])
    assert {"city", "days"} == set(schema["required"])


@requirement("mode-strict-schema-requires-optional-parameters")
def test_optional_parameters(provider: Scene, implementation: Implementation) -> None:
    """Of two parameters one was declared as required; in the schema of a strict tool both are."""
    schema = _schema(_with(provider, implementation, OPTIONAL)["forecast"])

    assert {"city", "days"} == schema["properties"].keys()
    assert {"city", "days"} == set(schema["required"])


@requirement("mode-strict-flag-is-sent")
def test_strict_flag(provider: Scene, implementation: Implementation) -> None:
    """The tool's own member strict is true in the request."""
    offered = _with(provider, implementation, FORECAST)["forecast"]

    assert offered.strict, f"{offered.name} is offered without strict"


def _handled(*modes: str) -> list[Tool]:
    """The assistant's tools, with the kinds of functions named in turn."""
    tools = agent("assistant").tools
    return [replace(tool, handler=modes[place % len(modes)]) for place, tool in enumerate(tools)]


FOUR = calls(
    Call.of("ping"), Call.of("weather", {"city": "Tokyo"}), Call.of("add", {"a": 1, "b": 2}), Call.of("note", {})
)
ALL: list[dict[str, Any]] = [{"ping": {}}, {"weather": {"city": "Tokyo"}}, {"add": {"a": 1, "b": 2}}, {"note": {}}]


def _carried(provider: Scene, implementation: Implementation, *modes: str) -> Run:
    """A turn that calls each tool, and a second that calls one again."""
    provider.plays(FOUR, calls(Call.of("weather", {"city": "Oslo"})), says("Done."))
    return implementation.run(tools=_handled(*modes))


def _holds(run: Run) -> None:
    """Every tool has run, and the model has read what it returned."""
    tools_ran(run, [*ALL, {"weather": {"city": "Oslo"}}])
    for turn in (1, 2):
        answers(run, turn)
    assert "Done." == run.value.text


@requirement("mode-async-tools-are-awaited")
@on("*/*/async")
def test_awaited(provider: Scene, implementation: Implementation) -> None:
    """The results of coroutine functions are what they return, not the coroutines."""
    run = _carried(provider, implementation, "async")

    _holds(run)


@requirement("mode-plain-tools-run-in-async-runs")
@on("*/*/async")
@pytest.mark.parametrize("modes", [("sync",), ("sync", "async"), ("async", "sync")], ids="-".join)
def test_plain_functions(provider: Scene, implementation: Implementation, modes: tuple[str, ...]) -> None:
    """Plain functions run alone and beside coroutine functions, and their results are what they return."""
    run = _carried(provider, implementation, *modes)

    _holds(run)


def _raised(provider: Scene, implementation: Implementation, *modes: str) -> None:
    """Both tools of a turn raise; the model reads both errors, and answers."""
    provider.plays(calls(Call.of("ping"), Call.of("weather", {"city": "Atlantis"})), says("Done."))
    provider.raises("ping", "no line", "OSError")
    provider.raises("weather", "no city", "LookupError")
    run = implementation.run(tools=_handled(*modes))
    run.delivered(1)

    assert 2 == len(run.requests), f"the loop {run.outcome}"
    told = [answer.text for answer in run.new_answers(1)]
    assert [True, True] == [words in text for words, text in zip(("no line", "no city"), told, strict=False)], told


@requirement("mode-async-tools-are-awaited")
@on("*/*/async")
def test_coroutine_raises(provider: Scene, implementation: Implementation) -> None:
    """What a coroutine raises while it is awaited is fed back as what a function raises."""
    _raised(provider, implementation, "async")


@requirement("mode-plain-tools-run-in-async-runs")
@on("*/*/async")
def test_plain_function_raises(provider: Scene, implementation: Implementation) -> None:
    """What a plain function raises beside a coroutine function is fed back too."""
    _raised(provider, implementation, "sync", "async")
