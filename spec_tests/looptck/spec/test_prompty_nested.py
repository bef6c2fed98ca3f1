"""Profile ``prompty-spec``, prompty tools: a call runs another prompt, by one model call or a loop of its own (§9.6).

The script has the turns of parent and children in the order in which their requests come; the system prompt of a
request tells whose it is.
"""

from __future__ import annotations

from typing import Any

import pytest

from looptck.agents import agent
from looptck.checks import Implementation, control, requirement
from looptck.expected import difference
from looptck.framing import NATURAL
from looptck.history import Answered, Asked, Item, Kept, Said
from looptck.kit import Scene
from looptck.outcome import Failed
from looptck.provider.script import Step
from looptck.run import Run
from looptck.spec.schemas import parameters
from looptck.transcript import Received
from looptck.turns import Call, Turn, calls, says
from looptck.verdicts import NotReached

ASKED = {"question": "What is a fjord?", "length": "long"}
CONSULT = Call.of("consult", ASKED)
SUMMARIZE = Call.of("summarize", {"text": "A long text about fjords."})
LOOKUP = Call.of("lookup", {"topic": "fjords"})
AGENTS = ("parent", "children/expert", "children/summary", "children/checker")
ANSWER, DONE = says("A drowned valley."), says("Done.")
MOST = 40
"""Model calls after which a loop counts as one without a limit."""


def _plays(provider: Scene, implementation: Implementation, *turns: Turn | Step, **how: Any) -> Run:
    """A run of the parent, which is a file as its children are."""
    provider.plays(*turns)
    return implementation.run(agent="parent", as_file=True, inputs={"audience": "children"}, **how)


def _whose(received: Received) -> str:
    """The agent that made a request, by its system prompt."""
    said = next((item.text.strip() for item in received.request.items if isinstance(item, Said)), None)
    whose = (name for name in AGENTS if said == agent(name).template[0][1])
    return next((name.rpartition("/")[2] for name in whose), "nobody that the case knows")


def _asked(run: Run) -> list[str]:
    """Whose the requests were, in order."""
    return [_whose(received) for received in run.requests]


def _child(run: Run, n: int, name: str) -> Received:
    """Request ``n``. Raises NotReached where it is not this child's."""
    received = run.request(n)
    if name != _whose(received):
        raise NotReached(f"request {n} should have been that of {name}; the requests were those of {_asked(run)}")
    return received


def _begins(received: Received, arguments: dict[str, str]) -> None:
    """A request of the expert holds its prompt, with these inputs and that which is bound."""
    messages = agent("children/expert").messages({**arguments, "audience": "children"})
    found = difference([Said(role, text) for role, text in messages], received.request.items)
    assert found is None, f"at {found.pointer}: {found.got}, not {found.expected}"


# -- the child's file -----------------------------------------------------------------------------------------------


@requirement("spec-child-path-is-relative-to-its-parent")
def test_path_of_a_child(provider: Scene, implementation: Implementation) -> None:
    """The child is found beside its parent's file, wherever the loop works; that files are loaded is the control."""
    provider.plays(says("Hello."))
    implementation.run(as_file=True).request(1)

    run = _plays(provider, implementation, calls(CONSULT), ANSWER, DONE)

    assert ["parent", "expert"] == _asked(run)[:2], f"the loop {run.outcome}"


@requirement("spec-child-path-is-relative-to-its-parent")
def test_path_of_a_childs_child(provider: Scene, implementation: Implementation) -> None:
    """The child of a child is found beside the child's file, and not beside that of the first parent.

    That a child which was found runs its tools is the control; where none was, the other check tells.
    """
    control(_consulted(provider, implementation), "lookup")
    verify = calls(Call.of("verify", {"claim": "A fjord is a drowned valley."}))

    run = _plays(provider, implementation, calls(CONSULT), verify, says("True."), ANSWER, DONE)

    assert ["parent", "expert", "checker"] == _asked(run)[:3], f"the loop {run.outcome}"


@requirement("spec-prompty-tool-offers-its-childs-inputs")
def test_offered_inputs(provider: Scene, implementation: Implementation) -> None:
    """The parameters are what the children declare as inputs, but for the one that is bound."""
    run = _plays(provider, implementation, says("Hello."))

    offered = {tool.name: set(parameters(tool.parameters)) for tool in run.request(1).request.tools}
    assert {"consult": {"question", "length"}, "summarize": {"text"}} == offered


# -- what the child is given ----------------------------------------------------------------------------------------


CASES = {
    "arguments": ASKED,
    "bound": {**ASKED, "audience": "kings"},
    "default": {"question": ASKED["question"]},
}


@requirement("spec-child-gets-arguments-and-bindings")
@pytest.mark.parametrize("arguments", CASES.values(), ids=list(CASES))
def test_inputs_of_a_child(provider: Scene, implementation: Implementation, arguments: dict[str, str]) -> None:
    """The child's prompt has the model's arguments, the bound input whatever the model wrote, and else its defaults."""
    run = _plays(provider, implementation, calls(Call.of("consult", arguments)), ANSWER, DONE)

    _begins(_child(run, 2, "expert"), arguments)


@requirement("spec-child-gets-arguments-and-bindings")
def test_inputs_of_each_call(provider: Scene, implementation: Implementation) -> None:
    """Two calls of one child in a turn run it twice, in order, each with its own arguments and its own answer."""
    questions = [{**ASKED, "question": f"What is a {what}?"} for what in ("fjord", "moor")]
    twice = calls(*(Call.of("consult", question) for question in questions))
    run = _plays(provider, implementation, twice, says("A valley."), says("A heath."), DONE)

    for n, question in enumerate(questions, 2):
        _begins(_child(run, n, "expert"), question)
    answered = [(answer.id, answer.text) for answer in run.told(4).answers]
    assert [("call_1a", "A valley."), ("call_1b", "A heath.")] == answered


@requirement("spec-child-gets-arguments-and-bindings")
def test_bindings_of_a_child(provider: Scene, implementation: Implementation) -> None:
    """The bindings of a child's tool take their values from the child's inputs."""
    run = _consulted(provider, implementation)

    control(run, "lookup")
    assert [("lookup", {"topic": "fjords", "length": "long"})] == run.tools_ran


# -- single and agentic ---------------------------------------------------------------------------------------------


@requirement("spec-single-child-calls-once")
def test_single_child(provider: Scene, implementation: Implementation) -> None:
    """A child in the mode single is asked once, and what it says is the result."""
    run = _plays(provider, implementation, calls(SUMMARIZE), says("Fjords."), DONE)

    _child(run, 2, "summary")
    assert ["parent", "summary", "parent"] == _asked(run), f"the loop {run.outcome}"
    assert ["Fjords."] == [answer.text for answer in run.told(3).answers]


@requirement("spec-single-child-calls-once")
def test_single_child_with_a_call(provider: Scene, implementation: Implementation) -> None:
    """Where the model of a single child calls a tool, it does not run, and the child is not asked again.

    That the tool runs where its agent loops is the control. What the child's result is then is open, and recorded.
    """
    looping = _plays(provider, implementation, calls(CONSULT), calls(LOOKUP), says("A valley."), DONE)
    control(looping, "lookup")

    run = _plays(provider, implementation, calls(SUMMARIZE), calls(LOOKUP), DONE, DONE)

    _child(run, 2, "summary")
    run.delivered(2)
    assert 1 == _asked(run).count("summary"), f"the requests were those of {_asked(run)}"
    assert [] == run.tools_ran
    answered = "a result" if any(received.request.answers for received in run.requests[2:]) else "no result"
    implementation.diverges("a single child that calls a tool", f"{answered}; {'failed' if run.failed else 'went on'}")


def _consulted(provider: Scene, implementation: Implementation, question: str = "Go.") -> Run:
    """A run in which the expert looks something up before it answers."""
    run = _plays(provider, implementation, calls(CONSULT), calls(LOOKUP), ANSWER, DONE, question=question)
    _child(run, 2, "expert")
    return run


@requirement("spec-agentic-child-loops")
def test_agentic_child(provider: Scene, implementation: Implementation) -> None:
    """The child calls a tool, gets its result, and answers; that answer is the result of the parent's call."""
    run = _consulted(provider, implementation)

    run.delivered(2)
    assert ["parent", "expert", "expert", "parent"] == _asked(run), f"the loop {run.outcome}"
    assert ["lookup"] == [tool for tool, _ in run.tools_ran]
    assert [("call_2a", "result 1 of lookup")] == [(one.id, one.text) for one in run.told(3).answers]
    assert [("call_1a", "A drowned valley.")] == [(one.id, one.text) for one in run.told(4).answers]
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
        case Kept(kind):
            return kind


@requirement("spec-child-has-a-history-of-its-own")
def test_histories(provider: Scene, implementation: Implementation) -> None:
    """The child's requests hold its prompt and its own rounds, the parent's next one its own call and the result."""
    run = _consulted(provider, implementation, "parents-own-question")

    _child(run, 3, "expert")
    run.request(4)
    rounds: list[list[str]] = [[], [], ["call_2a", "call_2a"], ["call_1a", "call_1a"]]
    assert [["system", "user", *one] for one in rounds] == [_outline(received) for received in run.requests]
    assert [1, 4] == [received.n for received in run.requests if b"parents-own-question" in received.raw]


@requirement("spec-child-has-a-history-of-its-own")
def test_second_consultation(provider: Scene, implementation: Implementation) -> None:
    """A child that is run a second time knows nothing of the first."""
    again = calls(Call.of("consult", {"question": "What is a moor?"}))
    run = _plays(provider, implementation, calls(CONSULT), says("A valley."), again, says("A heath."), DONE)

    second = _child(run, 4, "expert")
    assert ["system", "user"] == _outline(second)
    assert b"fjord" not in second.raw


# -- limits and errors ----------------------------------------------------------------------------------------------


def _looks_up(n: int) -> Turn:
    return calls(Call.of("lookup", {"topic": f"fjord {n}"}))


@requirement("spec-child-counts-its-own-iterations")
def test_endless_child(provider: Scene, implementation: Implementation) -> None:
    """A child that never answers is asked as often as this loop asks any agent that never answers."""
    provider.always(lambda n: calls(Call.of("note", {"text": f"round {n}"})), most=MOST)
    limit = len(implementation.run(as_file=True).requests)
    if limit >= MOST:
        raise NotReached(f"control: no limit was seen in {limit} model calls")
    provider.always(lambda n: calls(CONSULT) if n == 1 else _looks_up(n), most=MOST)

    run = implementation.run(agent="parent", as_file=True, inputs={"audience": "children"})

    _child(run, 3, "expert")
    assert limit == _asked(run).count("expert"), f"the requests were those of {_asked(run)}"


@requirement("spec-child-counts-its-own-iterations")
def test_rounds_of_children(provider: Scene, implementation: Implementation) -> None:
    """Two children of seven model calls each count neither for the parent nor for each other."""
    child = [calls(CONSULT), *map(_looks_up, range(6)), says("A valley.")]

    run = _plays(provider, implementation, *child, *child, DONE)

    _child(run, 3, "expert")
    assert ["parent", *["expert"] * 7, "parent", *["expert"] * 7, "parent"] == _asked(run), f"the loop {run.outcome}"
    assert "Done." == run.value.text


@requirement("spec-childs-error-ends-the-loop")
def test_raising_tool_of_a_child(provider: Scene, implementation: Implementation) -> None:
    """An error that a tool of the child raises ends both loops, and the caller gets its type and message."""
    provider.raises("lookup", "there is no such topic", "LookupError")

    run = _consulted(provider, implementation)

    control(run, "lookup")
    assert isinstance(run.outcome, Failed), f"the loop {run.outcome}"
    assert ("LookupError", True) == (run.outcome.type, "there is no such topic" in run.outcome.message)
    assert ["parent", "expert"] == _asked(run)


# -- streams --------------------------------------------------------------------------------------------------------


@requirement("spec-childs-text-is-not-forwarded")
@pytest.mark.parametrize("call", [CONSULT, SUMMARIZE], ids=["agentic", "single"])
def test_text_of_a_child(provider: Scene, implementation: Implementation, call: Call) -> None:
    """The caller of the parent gets the parent's text alone, though the child's is streamed too."""
    slow = NATURAL.but(fragment=1)
    run = _plays(provider, implementation, calls(call), Step(says("Secret."), slow), Step(DONE, slow))

    run.delivered(3)
    if ["Secret."] != [answer.text for answer in run.told(3).answers]:
        raise NotReached(f"control: the child's text should be the result; the requests were those of {_asked(run)}")
    assert "Done." == "".join(chunk.text for chunk in run.chunks)
