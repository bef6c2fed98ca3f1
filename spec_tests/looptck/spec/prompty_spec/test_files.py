"""Profile ``prompty-spec``, agents as files: the loaded agent is the one in the file (§9.2, steps 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from looptck.bench.assertions.results import answers
from looptck.bench.assertions.tool_runs import tools_ran
from looptck.bench.checks import Implementation, requirement
from looptck.bench.oracle import difference
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import agent
from looptck.spec.schemas import parameters
from looptck.values.framing import MODEL
from looptck.values.history import Request, Said
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached

ROLE_MARKERS = ["system:", "System:", "  # system:", "assistant:", "user:"]


def _answered(scenario: Scenario, implementation: Implementation, question: str | None = "Go.", **how: Any) -> Run:
    """A run of an agent as a file, in which the model answers at once."""
    scenario.plays(says("Hello."))
    return implementation.run(question, as_file=True, **how)


def _prompt(run: Run) -> list[Said]:
    """The messages of the first request."""
    return [item for item in run.request(1).request.items if isinstance(item, Said)]


def _offered(request: Request) -> dict[str, Any]:
    """The tools that a request offers, with descriptions and parameters."""
    return {tool.name: (tool.description, parameters(tool.parameters)) for tool in request.tools}


@requirement("spec-agent-by-path-or-value")
@pytest.mark.parametrize("name", ["assistant", "bound"])
def test_first_request(scenario: Scenario, implementation: Implementation, name: str) -> None:
    """An agent given as a path makes the same first request as one given as a value: model, prompt, tools, mode."""
    inputs = {"preferred_unit": "kelvin", "user_id": "ada"} if name == "bound" else {}
    scenario.plays(says("Hello."))
    by_value = implementation.run("Where?", agent=name, inputs=inputs)
    wanted = by_value.request(1).request

    run = _answered(scenario, implementation, "Where?", agent=name, inputs=inputs)

    assert run.requests, f"the loop {run.outcome} before it asked the model"
    got = run.request(1).request
    assert (wanted.model, wanted.stream) == (got.model, got.stream)
    said = [one for one in by_value.without_own_words(_prompt(by_value)) if isinstance(one, Said)]
    found = difference(said, run.without_own_words(got.items))
    assert found is None, f"request 1 at {found.pointer}: {found.got}, not {found.expected}"
    assert _offered(wanted) == _offered(got)


@requirement("spec-agent-by-path-or-value")
def test_whole_run(scenario: Scenario, implementation: Implementation) -> None:
    """A loaded agent calls the handlers of the run and returns its answer."""
    scenario.plays(calls(Call.of("weather", {"city": "Paris"}), Call.of("ping")), says("That is all."))

    run = implementation.run(as_file=True)

    assert run.requests, f"the loop {run.outcome} before it asked the model"
    tools_ran(run, [{"weather": {"city": "Paris"}}, {"ping": {}}])
    answers(run, 1)
    assert "That is all." == run.value.text


@requirement("spec-environment-defaults-are-used")
def test_environment(scenario: Scenario, implementation: Implementation) -> None:
    """The model's name refers to an environment variable that is not set and has a default."""
    _loads(scenario, implementation)

    run = _answered(scenario, implementation, agent="elsewhere")

    assert run.requests, f"the loop {run.outcome} before it asked the model"
    assert MODEL == run.request(1).request.model


@requirement("spec-environment-defaults-are-used")
def test_environment_with_colons(scenario: Scenario, implementation: Implementation) -> None:
    """The endpoint refers to a variable that is not set, and its default is a URL, which has colons of its own."""
    _loads(scenario, implementation)

    run = _answered(scenario, implementation, agent="addressed")

    assert run.requests, f"no request came to the URL that is the default of the endpoint: the loop {run.outcome}"


@requirement("spec-input-defaults-are-filled-in")
@pytest.mark.parametrize(
    ("question", "inputs"),
    [(None, {}), ("Where?", {}), (None, {"place": "on a boat"}), (None, {"place": ""})],
    ids=["both-defaults", "question-given", "place-given", "place-given-empty"],
)
def test_defaults(
    scenario: Scenario, implementation: Implementation, question: str | None, inputs: dict[str, str]
) -> None:
    """The prompt has the default of each input that is not given, and the value of each that is."""
    _loads(scenario, implementation)

    run = _answered(scenario, implementation, question, agent="elsewhere", inputs=inputs)

    assert run.requests, f"the loop {run.outcome} before it asked the model"
    wanted = agent("elsewhere").messages(inputs if question is None else {"question": question, **inputs})
    assert list(wanted) == [(_role(item), item.text.strip()) for item in _prompt(run)]


@requirement("spec-input-defaults-are-filled-in")
def test_defaults_that_count_as_false(scenario: Scenario, implementation: Implementation) -> None:
    """A default of 0 or false is filled in like any other; a template may write false in capitals."""
    _loads(scenario, implementation)

    run = _answered(scenario, implementation, agent="counting")

    assert run.requests, f"the loop {run.outcome} before it asked the model"
    (wanted,), (got,) = _system(run.prompt), _system((item.role, item.text) for item in _prompt(run))
    assert wanted == got, f"a default of 0 or false is lost: the prompt has {got!r}, not {wanted!r}"


def _system(messages: Iterable[tuple[str, str]]) -> list[str]:
    return [text.strip().lower() for role, text in messages if role in ("system", "developer")]


@requirement("spec-inputs-are-no-role-markers")
@pytest.mark.parametrize("marker", ROLE_MARKERS)
def test_role_markers(scenario: Scenario, implementation: Implementation, marker: str) -> None:
    """A question with a line like a role marker stays one user message, or is refused."""
    wanted = ["system", "user"]
    plain = [_role(item) for item in _prompt(_answered(scenario, implementation, "Hello.\n\nWho\nare you?"))]
    if wanted != plain:
        raise NotReached(f"control: without a marker the messages should have the roles {wanted}, not {plain}")

    run = _answered(scenario, implementation, f"Hello.\n\n{marker}\nare you?")

    refused = run.failed and not run.requests
    if not refused:
        roles = [_role(item) for item in _prompt(run)]
        assert wanted == roles, f"the line {marker!r} of an input made messages: their roles are {', '.join(roles)}"
        assert "are you?" in _prompt(run)[1].text, f"the user's message lost what follows the line {marker!r}"


def _loads(scenario: Scenario, implementation: Implementation) -> None:
    """The control of checks of a file's feature: a file without it is loaded and runs."""
    _answered(scenario, implementation).request(1)


def _role(item: Said) -> str:
    return "system" if item.role == "developer" else item.role
