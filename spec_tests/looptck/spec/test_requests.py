"""What every request carries: the prompt, the tools, the mode, and all of the history so far."""

from __future__ import annotations

from looptck.agents import agent
from looptck.checks import Implementation, requirement
from looptck.expected import agrees
from looptck.handover import MODEL
from looptck.history import Asked, Said
from looptck.kit import Scene
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
    """The first request holds the prompt and nothing else."""
    provider.plays(says("Hello."))

    run = implementation.run("What is the weather?")

    items = run.request(1).request.items
    assert len(run.prompt) == len(items)
    assert all(agrees(Said(role, text), item) for (role, text), item in zip(run.prompt, items, strict=True)), items


@requirement("history-only-grows")
def test_history_grows(provider: Scene, implementation: Implementation) -> None:
    """Each request begins with the history of the one before."""
    run = _conversation(provider, implementation)

    for earlier, later in zip(run.requests, run.requests[1:], strict=False):
        before = earlier.request.items
        assert before == later.request.items[: len(before)]


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


@requirement("tools-are-offered-every-time")
def test_tools_are_offered(provider: Scene, implementation: Implementation) -> None:
    """Names, descriptions and parameters of all tools stand in each request."""
    run = _conversation(provider, implementation)

    for received in run.requests:
        offered = {tool.name: tool for tool in received.request.tools}
        for tool in agent("assistant").tools:
            assert tool.name in offered
            assert tool.description == offered[tool.name].description
            assert set(tool.parameters["properties"]) == _names(offered[tool.name].parameters)


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
    implementation.diverges("echoed arguments", "same text" if written == echoed[0].arguments else "written anew")


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
