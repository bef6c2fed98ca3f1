"""Profile ``prompty-spec``, prompty tools: a call runs another prompt, by one model call or its own loop (§9.6).

The script has the turns of parent and children in the order of their requests. The system prompt of a request shows
which agent sent it.
"""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.checks import Implementation, control, requirement
from looptck.bench.oracle import difference
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import agent
from looptck.provider.script import Step
from looptck.spec.python_errors import reached_the_caller
from looptck.spec.schemas import parameters
from looptck.values.framing import DEFAULT
from looptck.values.history import Answered, Asked, Item, Opaque, Said
from looptck.values.plain import plain
from looptck.values.transcript import Received
from looptck.values.turns import Call, Turn, calls, says
from looptck.values.verdicts import NotReached

ASKED = {"question": "What is a fjord?", "length": "long"}
CONSULT = Call.of("consult", ASKED)
SUMMARIZE = Call.of("summarize", {"text": "A long text about fjords."})
LOOKUP = Call.of("lookup", {"topic": "fjords"})
AGENTS = ("parent", "children/expert", "children/summary", "children/checker")
ANSWER, DONE = says("A drowned valley."), says("Done.")
MOST = 40
"""The number of model calls after which a loop counts as unlimited."""


def _plays(scenario: Scenario, implementation: Implementation, *turns: Turn | Step, **how: Any) -> Run:
    """A run of the parent, which is loaded from a file like its children."""
    scenario.plays(*turns)
    return implementation.run(agent="parent", as_file=True, inputs={"audience": "children"}, **how)


def _sender(received: Received) -> str:
    """The agent that sent a request, by its system prompt; where several have theirs in it, by the tools it offers."""
    said = [item.text.strip() for item in received.request.items if isinstance(item, Said)]
    offered = {tool.name for tool in received.request.tools}
    prompts = {agent(name).template[0][1]: name for name in AGENTS}
    there = list(dict.fromkeys(prompts[text] for text in said if text in prompts))
    own = (name for name in there if {tool.name for tool in agent(name).tools} == offered)
    return next(own, there[0] if there else "an unknown agent").rpartition("/")[2]


def _senders(run: Run) -> list[str]:
    """The agents that sent the requests, in order."""
    return [_sender(received) for received in run.requests]


def _told(run: Run) -> str:
    return f"the requests came from {plain(_senders(run))}; the loop {run.outcome}"


def _child(run: Run, n: int, name: str) -> Received:
    """Request ``n``. Raises NotReached if another agent than this child sent it."""
    received = run.request(n)
    if name != _sender(received):
        raise NotReached(f"request {n} should have come from {name}; the requests came from {plain(_senders(run))}")
    return received


def _begins(received: Received, arguments: dict[str, str]) -> None:
    """Assert that a request of the expert has its prompt, with these inputs and the bound one."""
    messages = agent("children/expert").messages({**arguments, "audience": "children"})
    found = difference([Said(role, text) for role, text in messages], received.request.items)
    assert found is None, f"at {found.pointer}: {found.got}, not {found.expected}"


# -- the child's file -----------------------------------------------------------------------------------------------


@requirement("spec-child-path-is-relative-to-its-parent")
def test_path_of_a_child(scenario: Scenario, implementation: Implementation) -> None:
    """The child's path is resolved from its parent's file, not from the working directory.

    The control is that files are loaded at all.
    """
    scenario.plays(says("Hello."))
    implementation.run(as_file=True).request(1)

    run = _plays(scenario, implementation, calls(CONSULT), ANSWER, DONE)

    assert ["parent", "expert"] == _senders(run)[:2], _told(run)


@requirement("spec-child-path-is-relative-to-its-parent")
def test_path_of_a_childs_child(scenario: Scenario, implementation: Implementation) -> None:
    """The path of a child's child is resolved from the child's file, not from the first parent's.

    The control is that a child that was found runs its tools; whether it is found at all is another check.
    """
    control(_consulted(scenario, implementation), "lookup")
    verify = calls(Call.of("verify", {"claim": "A fjord is a drowned valley."}))

    run = _plays(scenario, implementation, calls(CONSULT), verify, says("True."), ANSWER, DONE)

    assert ["parent", "expert", "checker"] == _senders(run)[:3], _told(run)


@requirement("spec-prompty-tool-offers-its-childs-inputs")
def test_offered_inputs(scenario: Scenario, implementation: Implementation) -> None:
    """The parameters are the inputs that the children declare, except for the bound one."""
    run = _plays(scenario, implementation, says("Hello."))

    offered = {tool.name: set(parameters(tool.parameters)) for tool in run.request(1).request.tools}
    assert {"consult": {"question", "length"}, "summarize": {"text"}} == offered


# -- the inputs of the child ----------------------------------------------------------------------------------------


CASES = {
    "arguments": ASKED,
    "bound": {**ASKED, "audience": "kings"},
    "default": {"question": ASKED["question"]},
}


@requirement("spec-child-gets-arguments-and-bindings")
@pytest.mark.parametrize("arguments", CASES.values(), ids=list(CASES))
def test_inputs_of_a_child(scenario: Scenario, implementation: Implementation, arguments: dict[str, str]) -> None:
    """The child's prompt has the model's arguments, the bound input, and defaults for the other inputs."""
    run = _plays(scenario, implementation, calls(Call.of("consult", arguments)), ANSWER, DONE)

    _begins(_child(run, 2, "expert"), arguments)


@requirement("spec-child-gets-arguments-and-bindings")
def test_inputs_of_each_call(scenario: Scenario, implementation: Implementation) -> None:
    """Two calls of one child in a turn run it twice, in order, each with its own arguments and answer."""
    questions = [{**ASKED, "question": f"What is a {what}?"} for what in ("fjord", "moor")]
    twice = calls(*(Call.of("consult", question) for question in questions))
    run = _plays(scenario, implementation, twice, says("A valley."), says("A heath."), DONE)

    for n, question in enumerate(questions, 2):
        _begins(_child(run, n, "expert"), question)
    answered = [(answer.id, answer.text) for answer in run.normalized(4).answers]
    assert [("call_1a", "A valley."), ("call_1b", "A heath.")] == answered


@requirement("spec-child-gets-arguments-and-bindings")
def test_inputs_of_the_parent(scenario: Scenario, implementation: Implementation) -> None:
    """An input of a child that is no argument and not bound has its default, though the parent has one of its name."""
    arguments = {"question": ASKED["question"]}
    scenario.plays(calls(Call.of("consult", arguments)), ANSWER, DONE)

    run = implementation.run(agent="parent", as_file=True, inputs={"audience": "children", "length": "endless"})

    child = _child(run, 2, "expert")
    assert b"endless" not in child.raw, "an input of the parent that is no argument and not bound reached the child"
    _begins(child, arguments)


@requirement("spec-child-gets-arguments-and-bindings")
def test_bindings_of_a_child(scenario: Scenario, implementation: Implementation) -> None:
    """The bindings of a child's tool take their values from the child's inputs."""
    run = _consulted(scenario, implementation)

    control(run, "lookup")
    assert [("lookup", {"topic": "fjords", "length": "long"})] == run.tools_ran


# -- single and agentic ---------------------------------------------------------------------------------------------


@requirement("spec-single-child-calls-once")
def test_single_child(scenario: Scenario, implementation: Implementation) -> None:
    """A child in the mode single is asked once, and its reply is the result."""
    run = _plays(scenario, implementation, calls(SUMMARIZE), says("Fjords."), DONE)

    _child(run, 2, "summary")
    assert ["parent", "summary", "parent"] == _senders(run), _told(run)
    answered = [answer.text for answer in run.normalized(3).answers]
    assert len(answered) == 1, f"{len(answered)} results of the one call reach the parent's model"
    assert "Fjords." in answered[0], f"the child answers 'Fjords.', and the result is {plain(answered[0])}"


@requirement("spec-single-child-calls-once")
def test_single_child_with_a_call(scenario: Scenario, implementation: Implementation) -> None:
    """If the model of a single child calls a tool, the tool does not run, and the child is not asked again.

    The control is that the tool runs if the child loops. The result of such a child is left open, and recorded.
    """
    looping = _plays(scenario, implementation, calls(CONSULT), calls(LOOKUP), says("A valley."), DONE)
    control(looping, "lookup")

    run = _plays(scenario, implementation, calls(SUMMARIZE), calls(LOOKUP), DONE, DONE)

    _child(run, 2, "summary")
    run.delivered(2)
    assert 1 == _senders(run).count("summary"), f"the requests came from {plain(_senders(run))}"
    assert [] == run.tools_ran
    answered = "a result" if any(received.request.answers for received in run.requests[2:]) else "no result"
    implementation.diverges("a single child that calls a tool", f"{answered}; {'failed' if run.failed else 'went on'}")


def _consulted(scenario: Scenario, implementation: Implementation, question: str = "Go.") -> Run:
    """A run in which the expert calls a tool before it answers."""
    run = _plays(scenario, implementation, calls(CONSULT), calls(LOOKUP), ANSWER, DONE, question=question)
    _child(run, 2, "expert")
    return run


@requirement("spec-agentic-child-loops")
def test_agentic_child(scenario: Scenario, implementation: Implementation) -> None:
    """The child calls a tool, gets its result, and answers; its answer is the result of the parent's call."""
    run = _consulted(scenario, implementation)

    run.delivered(2)
    assert ["parent", "expert", "expert", "parent"] == _senders(run), _told(run)
    assert ["lookup"] == [tool for tool, _ in run.tools_ran]
    assert [("call_2a", "result 1 of lookup")] == [(one.id, one.text) for one in run.normalized(3).answers]
    assert [("call_1a", "A drowned valley.")] == [(one.id, one.text) for one in run.normalized(4).answers]
    assert "Done." == run.value.text


def _outline(received: Received) -> list[str]:
    """The roles of messages and the ids of calls and results, in order."""
    return [_word(item) for item in received.request.items]


def _word(item: Item) -> str:
    match item:
        case Said(role):
            return "system" if role == "developer" else role
        case Asked(id) | Answered(id):
            return id
        case Opaque(kind):
            return kind


@requirement("spec-child-has-a-history-of-its-own")
def test_histories(scenario: Scenario, implementation: Implementation) -> None:
    """The child's requests have its prompt and rounds; the parent's next request has its own call and the result."""
    run = _consulted(scenario, implementation, "parents-own-question")

    _child(run, 3, "expert")
    run.request(4)
    rounds: list[list[str]] = [[], [], ["call_2a", "call_2a"], ["call_1a", "call_1a"]]
    assert [["system", "user", *one] for one in rounds] == [_outline(received) for received in run.requests]
    having = [received.n for received in run.requests if b"parents-own-question" in received.raw]
    assert [1, 4] == having, (
        "the parent was asked 'parents-own-question', which belongs into its requests 1 and 4 alone; it is in "
        f"{plain(having) if having else 'none'}"
    )


@requirement("spec-child-has-a-history-of-its-own")
def test_second_consultation(scenario: Scenario, implementation: Implementation) -> None:
    """The second run of a child contains nothing of the first."""
    again = calls(Call.of("consult", {"question": "What is a moor?"}))
    run = _plays(scenario, implementation, calls(CONSULT), says("A valley."), again, says("A heath."), DONE)

    second = _child(run, 4, "expert")
    assert ["system", "user"] == _outline(second)
    assert b"fjord" not in second.raw


# -- limits and errors ----------------------------------------------------------------------------------------------


def _looks_up(n: int) -> Turn:
    return calls(Call.of("lookup", {"topic": f"fjord {n}"}))


@requirement("spec-child-counts-its-own-iterations")
def test_endless_child(scenario: Scenario, implementation: Implementation) -> None:
    """A child that never answers is asked as often as the same loop asks any agent that never answers."""
    scenario.always(lambda n: calls(Call.of("note", {"text": f"round {n}"})), most=MOST)
    limit = len(implementation.run(as_file=True).requests)
    if limit >= MOST:
        raise NotReached(f"control: no limit was seen in {limit} model calls")
    scenario.always(lambda n: calls(CONSULT) if n == 1 else _looks_up(n), most=MOST)

    run = implementation.run(agent="parent", as_file=True, inputs={"audience": "children"})

    _child(run, 3, "expert")
    made = _senders(run).count("expert")
    if made < limit:
        run.delivered(len(run.requests))
    assert limit == made, (
        f"the child made {made} model calls, where any other loop makes {limit}; the loop {run.outcome}"
    )


@requirement("spec-child-counts-its-own-iterations")
def test_rounds_of_children(scenario: Scenario, implementation: Implementation) -> None:
    """Two children with seven model calls each count neither towards the parent's limit nor each other's."""
    child = [calls(CONSULT), *map(_looks_up, range(6)), says("A valley.")]

    run = _plays(scenario, implementation, *child, *child, DONE)

    _child(run, 3, "expert")
    wanted = ["parent", *["expert"] * 7, "parent", *["expert"] * 7, "parent"]
    if len(run.requests) < len(wanted):
        run.delivered(len(run.requests))
    assert wanted == _senders(run), _told(run)
    assert "Done." == run.value.text


@requirement("spec-childs-error-ends-the-loop")
def test_raising_tool_of_a_child(scenario: Scenario, implementation: Implementation) -> None:
    """An error that a child's tool raises ends both loops, and the caller gets its type and message."""
    scenario.raises("lookup", "there is no such topic", "LookupError")

    run = _consulted(scenario, implementation)

    control(run, "lookup")
    reached_the_caller(implementation, run, "LookupError", "there is no such topic")
    assert ["parent", "expert"] == _senders(run)


# -- streams --------------------------------------------------------------------------------------------------------


@requirement("spec-childs-text-is-not-forwarded")
@pytest.mark.parametrize("call", [CONSULT, SUMMARIZE], ids=["agentic", "single"])
def test_text_of_a_child(scenario: Scenario, implementation: Implementation, call: Call) -> None:
    """The parent's caller gets the parent's text alone, though the child's text is streamed too."""
    slow = DEFAULT.but(fragment=1)
    run = _plays(scenario, implementation, calls(call), Step(says("Secret."), slow), Step(DONE, slow))

    run.delivered(3)
    if ["Secret."] != [answer.text for answer in run.normalized(3).answers]:
        raise NotReached(
            f"control: the child's text should be the result; the requests came from {plain(_senders(run))}"
        )
    got = "".join(chunk.text for chunk in run.chunks)
    assert not got.replace("Done.", "").strip(), f"the parent says 'Done.', and its caller got {got!r}"
