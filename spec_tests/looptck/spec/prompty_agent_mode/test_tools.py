"""Profile ``prompty-agent-mode``: agents from files, strict tools, and plain and coroutine functions as tools."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from looptck.bench.assertions.results import answers
from looptck.bench.assertions.tool_runs import tools_ran
from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.oracle import agrees
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import Tool, agent
from looptck.values.framing import MODEL
from looptck.values.history import Offered, Said
from looptck.values.plain import plain
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached


def _loaded(scenario: Scenario, implementation: Implementation, question: str | None) -> Run:
    """A run of the guide as a file, with one round of tools."""
    scenario.plays(calls(Call.of("clock", {"zone": "America/Lima"})), says("Noon."))
    return implementation.run(question, agent="guide", as_file=True)


@requirement("mode-agent-file-is-the-prompt")
def test_prompt_of_a_file(scenario: Scenario, implementation: Implementation) -> None:
    """The first request contains the file's system message and the question, and nothing else."""
    run = _loaded(scenario, implementation, "What time is it in Lima?")

    items = run.request(1).request.items
    assert len(run.prompt) == len(items)
    assert all(agrees(Said(role, text), item) for (role, text), item in zip(run.prompt, items, strict=True)), items


@requirement("mode-functions-run-for-a-loaded-agent")
def test_functions_of_a_loaded_agent(scenario: Scenario, implementation: Implementation) -> None:
    """The function passed for the run runs, and the model reads its result."""
    run = _loaded(scenario, implementation, "What time is it in Lima?")

    tools_ran(run, [{"clock": {"zone": "America/Lima"}}])
    answers(run, 1)
    assert "Noon." == run.value.text


@requirement("mode-input-default-is-used")
def test_input_default(scenario: Scenario, implementation: Implementation) -> None:
    """Without a question the user message has the file's default; with a question the default is absent."""
    default = _loaded(scenario, implementation, None)
    given = _loaded(scenario, implementation, "What time is it in Lima?")

    assert ["Is it raining in Lima?"] == _asked(default)
    assert ["What time is it in Lima?"] == _asked(given)


@requirement("mode-input-default-is-used")
def test_defaults_that_count_as_false(scenario: Scenario, implementation: Implementation) -> None:
    """A default of 0 or false is in the prompt like any other; a template may write false in capitals."""
    scenario.plays(says("One, two."))

    run = implementation.run(agent="counting", as_file=True)

    said = [item.text.strip().lower() for item in run.request(1).request.items if isinstance(item, Said)]
    wanted = [text.lower() for _, text in run.prompt]
    assert wanted == said, f"the file's defaults are 0 and false; the prompt has {plain(said)}, not {plain(wanted)}"


def _asked(run: Run) -> list[str]:
    said = [item for item in run.request(1).request.items if isinstance(item, Said)]
    return [item.text.strip() for item in said if item.role == "user"]


@requirement("mode-environment-default-is-used")
def test_environment_default(scenario: Scenario, implementation: Implementation) -> None:
    """The file reads the model's id from an environment variable that is not set."""
    run = _loaded(scenario, implementation, "What time is it in Lima?")

    run.request(2)
    assert {MODEL} == {received.request.model for received in run.requests}


@requirement("mode-environment-default-is-used")
def test_environment_default_with_colons(scenario: Scenario, implementation: Implementation) -> None:
    """The file reads the address of the service from an environment variable that is not set."""
    _loaded(scenario, implementation, "What time is it in Lima?").request(2)
    scenario.plays(says("Hello."))

    run = implementation.run(agent="addressed", as_file=True)

    assert run.requests, (
        "the endpoint in the file is a reference whose default is a URL, and no request came to that URL: the loop "
        f"{run.outcome}"
    )
    run.request(1)


def _offered(run: Run, n: int = 1) -> dict[str, Offered]:
    return {tool.name: tool for tool in run.request(n).request.tools}


def _schema(tool: Offered) -> dict[str, Any]:
    """The expected parts of the parameters."""
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
def test_declared_tools(scenario: Scenario, implementation: Implementation) -> None:
    """Each request has both tools of the file; the tool that is not strict requires only what the file requires."""
    run = _loaded(scenario, implementation, "What time is it in Lima?")

    run.request(2)
    for received in run.requests:
        offered = _offered(run, received.n)
        left = [tool.name for tool in agent("guide").tools if tool.name not in offered]
        assert not left, f"request {received.n} does not offer {', '.join(left)}"
        assert len(agent("guide").tools) == len(offered)
        for tool in agent("guide").tools:
            assert tool.description == offered[tool.name].description
            described = _described(_schema(offered[tool.name])["properties"])
            assert _described(tool.parameters["properties"]) == described
        assert ["zone"] == _schema(offered["clock"])["required"]


@requirement("mode-declared-strict-tool-is-strict")
def test_declared_strict_tool(scenario: Scenario, implementation: Implementation) -> None:
    """One of two tools in a file is strict: its schema is closed, and requires its parameters."""
    run = _loaded(scenario, implementation, "What time is it in Lima?")

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


def _with(scenario: Scenario, implementation: Implementation, *tools: Tool) -> dict[str, Offered]:
    """The tools of the first request, which must contain all tools of the run."""
    scenario.plays(says("Done."))
    offered = _offered(implementation.run(tools=tools))
    assert {tool.name for tool in tools} == offered.keys()
    return offered


@requirement("mode-strict-schema-is-closed")
def test_closed_schema(scenario: Scenario, implementation: Implementation) -> None:
    """The schema allows no additional properties, also next to a tool that is not strict."""
    offered = _with(scenario, implementation, LAX, FORECAST)

    assert _schema(offered["forecast"])["additionalProperties"] is False


@requirement("mode-strict-schema-requires-its-parameters")
def test_required_parameters(scenario: Scenario, implementation: Implementation) -> None:
    """The schema has both parameters as declared, and requires them."""
    schema = _schema(_with(scenario, implementation, FORECAST)["forecast"])

    assert _described({"city": CITY, "days": DAYS}) == _described(schema["properties"])
    assert {"city", "days"} == set(schema["required"])


@requirement("mode-strict-schema-requires-optional-parameters")
def test_optional_parameters(scenario: Scenario, implementation: Implementation) -> None:
    """One of two parameters was declared as required; the schema of the strict tool requires both."""
    schema = _schema(_with(scenario, implementation, OPTIONAL)["forecast"])

    assert {"city", "days"} == schema["properties"].keys()
    assert {"city", "days"} == set(schema["required"])


@requirement("mode-strict-flag-is-sent")
def test_strict_flag(scenario: Scenario, implementation: Implementation) -> None:
    """The member strict of the tool is true in the request."""
    offered = _with(scenario, implementation, FORECAST)["forecast"]

    assert offered.strict, f"{offered.name} is offered without strict"


def _handled(*modes: str) -> list[Tool]:
    """The assistant's tools, whose functions are of the given kinds in turn."""
    tools = agent("assistant").tools
    return [replace(tool, handler=modes[place % len(modes)]) for place, tool in enumerate(tools)]


FOUR = calls(
    Call.of("ping"), Call.of("weather", {"city": "Tokyo"}), Call.of("add", {"a": 1, "b": 2}), Call.of("note", {})
)
ALL: list[dict[str, Any]] = [{"ping": {}}, {"weather": {"city": "Tokyo"}}, {"add": {"a": 1, "b": 2}}, {"note": {}}]


def _carried(scenario: Scenario, implementation: Implementation, *modes: str) -> Run:
    """A turn that calls each tool, and a second turn that calls one of them again."""
    scenario.plays(FOUR, calls(Call.of("weather", {"city": "Oslo"})), says("Done."))
    return implementation.run(tools=_handled(*modes))


def _holds(run: Run) -> None:
    """Assert that every tool has run, and that the model has read every result."""
    tools_ran(run, [*ALL, {"weather": {"city": "Oslo"}}])
    for turn in (1, 2):
        answers(run, turn)
    assert "Done." == run.value.text


@requirement("mode-async-tools-are-awaited")
@on("*/*/async")
def test_awaited(scenario: Scenario, implementation: Implementation) -> None:
    """The results of coroutine functions are their return values, not the coroutines."""
    run = _carried(scenario, implementation, "async")

    for received in run.requests:
        for result in received.request.answers:
            assert "<coroutine" not in result.text, (
                f"the model reads {result.text!r} as a result: a coroutine function was called, and not awaited"
            )
    _holds(run)


@requirement("mode-plain-tools-run-in-async-runs")
@on("*/*/async")
@pytest.mark.parametrize("modes", [("sync",), ("sync", "async"), ("async", "sync")], ids="-".join)
def test_plain_functions(scenario: Scenario, implementation: Implementation, modes: tuple[str, ...]) -> None:
    """Plain functions run alone and together with coroutine functions, and their results are their return values."""
    run = _carried(scenario, implementation, *modes)

    _holds(run)


def _raised(scenario: Scenario, implementation: Implementation, *modes: str) -> None:
    """Assert that both tools of a turn raise, and that the model reads both errors and answers."""
    scenario.plays(calls(Call.of("ping"), Call.of("weather", {"city": "Atlantis"})), says("Done."))
    scenario.raises("ping", "no line", "OSError")
    scenario.raises("weather", "no city", "LookupError")
    run = implementation.run(tools=_handled(*modes))
    run.delivered(1)

    assert 2 == len(run.requests), f"the loop {run.outcome}"
    results = [answer.text for answer in run.new_answers(1)]
    if len(results) < 2:
        raise NotReached(f"of two calls whose tools raised {len(results)} has a result")
    told = [any(words in text for text in results) for words in ("no line", "no city")]
    assert all(told), f"the tools raised 'no line' and 'no city', and their results are {plain(results)}"


@requirement("mode-async-tools-are-awaited")
@on("*/*/async")
def test_coroutine_raises(scenario: Scenario, implementation: Implementation) -> None:
    """An error that a coroutine raises while it is awaited is fed back like that of a plain function."""
    _raised(scenario, implementation, "async")


@requirement("mode-plain-tools-run-in-async-runs")
@on("*/*/async")
def test_plain_function_raises(scenario: Scenario, implementation: Implementation) -> None:
    """An error of a plain function is fed back, also when coroutine functions are among the tools."""
    _raised(scenario, implementation, "sync", "async")
