"""Profile ``prompty-agent-mode``: the messages that are appended to the conversation and sent with each request."""

from __future__ import annotations

from dataclasses import replace

from looptck.bench.assertions.results import answers, answers_in_order
from looptck.bench.assertions.turns import turn_echoed
from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import agent
from looptck.spec.rounds import asks
from looptck.values.history import Answered
from looptck.values.plain import plain
from looptck.values.turns import Call, calls, says

TWO = calls(Call.of("ping"), Call.of("weather", {"city": "Paris"}))


def _conversation(scenario: Scenario) -> None:
    """A turn with text and parallel calls, another round, and the answer."""
    with_text = calls(*TWO.calls, text="One moment.")
    scenario.plays(with_text, calls(Call.of("add", {"a": 1, "b": 2.5})), says("3.5"))


@requirement("mode-plain-and-stream-ask-the-same")
def test_plain_and_stream(scenario: Scenario, implementation: Implementation) -> None:
    """A conversation, played plain and streamed, leads to the same tool runs, requests and answer."""
    _conversation(scenario)
    plain = implementation.run(cell=replace(implementation.cell, stream=False))
    streamed = implementation.run()

    for run in (plain, streamed):
        run.request(3)
    assert plain.rounds == streamed.rounds
    assert [plain.comparable_history(n) for n in (1, 2, 3)] == [streamed.comparable_history(n) for n in (1, 2, 3)]
    assert plain.value.text == streamed.value.text
    if implementation.started.can("chunks"):
        shown = "forwarded" if "One moment." in "".join(chunk.text for chunk in streamed.chunks) else "held back"
        implementation.diverges("text before calls in a stream", shown)


@requirement("mode-tools-are-offered-every-time")
def test_tools_are_offered(scenario: Scenario, implementation: Implementation) -> None:
    """Each of three requests offers every tool, with its description and the names of its parameters."""
    scenario.plays(asks(1), asks(2), says("Done."))

    run = implementation.run()

    run.delivered(1)
    run.request(2)
    wanted = {tool.name: (tool.description, set(tool.parameters["properties"])) for tool in agent("assistant").tools}
    for received in run.requests:
        offered = {tool.name: (tool.description, _names(tool.parameters)) for tool in received.request.tools}
        left = [name for name in wanted if name not in offered]
        assert not left, f"request {received.n} does not offer {', '.join(left)}"
        for name, (description, names) in offered.items():
            assert name in wanted, f"request {received.n} offers {name}, which the agent does not have"
            assert wanted[name] == (description, names), (
                f"request {received.n} offers {name} as {description!r} with the parameters {plain(sorted(names))}"
            )


def _names(parameters: object) -> set[str]:
    """The names of the parameters in a schema."""
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    return set(properties or {})


@requirement("mode-echoed-call-is-the-models-own")
def test_echoed_call(scenario: Scenario, implementation: Implementation) -> None:
    """The assistant message has id, function name and arguments exactly as the model wrote them."""
    written = '{ "text":  "caf\\u00e9" }'
    scenario.plays(calls(Call("note", written), Call.of("ping")), says("Noted."))

    run = implementation.run()

    run.delivered(1)
    messages = run.request(2).body["messages"]
    tool_calls = [one for message in messages for one in message.get("tool_calls") or ()]
    echoed = [(one.get("id"), *map(one.get("function", {}).get, ("name", "arguments"))) for one in tool_calls]
    assert [("call_1a", "note", written), ("call_1b", "ping", "{}")] == echoed


@requirement("mode-turn-is-appended-as-it-came")
def test_turn_is_appended(scenario: Scenario, implementation: Implementation) -> None:
    """The next request adds the turn with its text and calls, followed by the results."""
    scenario.plays(calls(*TWO.calls, text="One moment."), says("Done."))

    run = implementation.run()

    turn_echoed(run, 1)
    following = run.added(1)[len(run.echo(1)) :]
    assert [Answered, Answered] == [type(item) for item in following]


def _three(scenario: Scenario, implementation: Implementation) -> Run:
    scenario.plays(calls(*(Call.of("note", {"text": str(n)}) for n in range(3))), says("Done."))
    run = implementation.run()
    run.delivered(1)
    run.request(2)
    return run


@requirement("mode-one-result-for-each-call")
def test_one_result_each(scenario: Scenario, implementation: Implementation) -> None:
    """Three calls get three results, each under the id of its call, in call order."""
    run = _three(scenario, implementation)

    assert ["call_1a", "call_1b", "call_1c"] == [answer.id for answer in run.new_answers(1)]
    answers(run, 1)
    answers_in_order(run, 1)


@requirement("mode-tool-message-format")
def test_tool_messages(scenario: Scenario, implementation: Implementation) -> None:
    """Three tool messages follow the assistant message, each with an id and a text."""
    scenario.returns("note", "Kept.")
    run = _three(scenario, implementation)

    sent = run.request(2).body["messages"][-4:]
    assert ["assistant", "tool", "tool", "tool"] == [message.get("role") for message in sent]
    assert ["call_1a", "call_1b", "call_1c"] == [message.get("tool_call_id") for message in sent[1:]]
    assert ["Kept.", "Kept.", "Kept."] == [message.get("content") for message in sent[1:]]
