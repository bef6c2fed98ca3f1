"""Profile ``prompty-spec``, agents as files: what is loaded is the agent that the file says (§9.2, steps 1 and 2)."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.agents import agent
from looptck.checks import Implementation, requirement
from looptck.expectations import answers, tools_ran
from looptck.expected import difference
from looptck.handover import MODEL
from looptck.history import Request, Said
from looptck.kit import Scene
from looptck.run import Run
from looptck.spec.schemas import parameters
from looptck.turns import Call, calls, says
from looptck.verdicts import NotReached

ROLE_MARKERS = ["system:", "System:", "  # system:", "assistant:", "user:"]


def _answered(provider: Scene, implementation: Implementation, question: str | None = "Go.", **how: Any) -> Run:
    """A run of an agent as a file, which the model answers at once."""
    provider.plays(says("Hello."))
    return implementation.run(question, as_file=True, **how)


def _prompt(run: Run) -> list[Said]:
    """The messages of the first request."""
    return [item for item in run.request(1).request.items if isinstance(item, Said)]


def _offered(request: Request) -> dict[str, Any]:
    """The tools that a request offers: what they do and what they take."""
    return {tool.name: (tool.description, parameters(tool.parameters)) for tool in request.tools}


@requirement("spec-agent-by-path-or-value")
@pytest.mark.parametrize("name", ["assistant", "bound"])
def test_first_request(provider: Scene, implementation: Implementation, name: str) -> None:
    """Given as a path, an agent makes the first request that it makes given as a value: model, prompt, tools, mode."""
    inputs = {"preferred_unit": "kelvin", "user_id": "ada"} if name == "bound" else {}
    provider.plays(says("Hello."))
    by_value = implementation.run("Where?", agent=name, inputs=inputs)
    wanted = by_value.request(1).request

    run = _answered(provider, implementation, "Where?", agent=name, inputs=inputs)

    assert run.requests, f"the loop {run.outcome} before it asked the model"
    got = run.request(1).request
    assert (wanted.model, wanted.stream) == (got.model, got.stream)
    found = difference(_prompt(by_value), got.items)
    assert found is None, f"at {found.pointer}: {found.got}, not {found.expected}"
    assert _offered(wanted) == _offered(got)


@requirement("spec-agent-by-path-or-value")
def test_whole_run(provider: Scene, implementation: Implementation) -> None:
    """A loaded agent calls the handlers of the run and returns its answer."""
    provider.plays(calls(Call.of("weather", {"city": "Paris"}), Call.of("ping")), says("That is all."))

    run = implementation.run(as_file=True)

    assert run.requests, f"the loop {run.outcome} before it asked the model"
    tools_ran(run, [{"weather": {"city": "Paris"}}, {"ping": {}}])
    answers(run, 1)
    assert "That is all." == run.value.text


@requirement("spec-environment-defaults-are-used")
def test_environment(provider: Scene, implementation: Implementation) -> None:
    """The model's name is a reference to a variable that is not set, and has a default."""
    _loads(provider, implementation)

    run = _answered(provider, implementation, agent="elsewhere")

    assert run.requests, f"the loop {run.outcome} before it asked the model"
    assert MODEL == run.request(1).request.model


@requirement("spec-input-defaults-are-filled-in")
@pytest.mark.parametrize(
    ("question", "inputs"),
    [(None, {}), ("Where?", {}), (None, {"place": "on a boat"})],
    ids=["both-defaults", "question-given", "place-given"],
)
def test_defaults(
    provider: Scene, implementation: Implementation, question: str | None, inputs: dict[str, str]
) -> None:
    """Each input that is not given stands in the prompt with its default, each that is given with its value."""
    _loads(provider, implementation)

    run = _answered(provider, implementation, question, agent="elsewhere", inputs=inputs)

    assert run.requests, f"the loop {run.outcome} before it asked the model"
    wanted = agent("elsewhere").messages(inputs if question is None else {"question": question, **inputs})
    assert list(wanted) == [(_role(item), item.text.strip()) for item in _prompt(run)]


@requirement("spec-inputs-are-no-role-markers")
@pytest.mark.parametrize("marker", ROLE_MARKERS)
def test_role_markers(provider: Scene, implementation: Implementation, marker: str) -> None:
    """A question with a line that looks like a marker stays one message of the user, or is refused."""
    wanted = ["system", "user"]
    plain = [_role(item) for item in _prompt(_answered(provider, implementation, "Hello.\n\nWho\nare you?"))]
    if wanted != plain:
        raise NotReached(f"control: without a marker the messages should be those of {wanted}, not of {plain}")

    run = _answered(provider, implementation, f"Hello.\n\n{marker}\nare you?")

    refused = run.failed and not run.requests
    assert refused or wanted == [_role(item) for item in _prompt(run)], f"{_prompt(run)}"
    assert refused or "are you?" in _prompt(run)[1].text


def _loads(provider: Scene, implementation: Implementation) -> None:
    """The control of checks of what a file says: a file that says nothing of the kind is loaded and run."""
    _answered(provider, implementation).request(1)


def _role(item: Said) -> str:
    return "system" if item.role == "developer" else item.role
