"""The content of every request: the prompt, the mode, and the whole history so far."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from looptck.bench.checks import Implementation, refusable, requirement
from looptck.bench.oracle import agrees, alike, same_role
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.script import Step
from looptck.spec.conversing import accepted
from looptck.spec.reminding import lasting, written_anew
from looptck.values.framing import DEFAULT, MODEL
from looptck.values.history import Asked, Said
from looptck.values.outcome import Value
from looptck.values.plain import MOST, plain
from looptck.values.turns import Call, Turn, calls, says
from looptck.values.verdicts import NotApplicable

NOTHING = {"null", "none", "nil", "undefined"}
"""What languages print where there is no text."""


def _conversation(scenario: Scenario, implementation: Implementation) -> Run:
    """Two turns with calls, then the answer. Raises NotReached unless all of it happened."""
    scenario.plays(
        calls(Call.of("weather", {"city": "Paris"})),
        calls(Call.of("add", {"a": 1, "b": 2})),
        says("That is all."),
    )
    run = implementation.run("What is the weather?")
    run.request(3)
    return run


@requirement("prompt-reaches-the-model")
def test_prompt_comes_first(scenario: Scenario, implementation: Implementation) -> None:
    """The first request contains each message of the prompt once, in its role and order."""
    scenario.plays(says("Hello."))

    run = implementation.run("What is the weather?")

    _holds_the_prompt(run, 1)


@requirement("prompt-reaches-the-model")
def test_earlier_turns(scenario: Scenario, implementation: Implementation) -> None:
    """Every request contains the whole of a prompt with earlier turns, including the assistant's."""
    scenario.plays(calls(Call.of("ping")), says("Still Reykjavík."))

    run = implementation.run("Are you sure?", agent="recalling")

    run.request(2)
    for received in run.requests:
        _holds_the_prompt(run, received.n)


@requirement("prompt-reaches-the-model")
@pytest.mark.parametrize("name", ["assistant", "bare"])
def test_braces(scenario: Scenario, implementation: Implementation, name: str) -> None:
    """Text that looks like a template variable or a format specifier is sent unchanged."""
    scenario.plays(says("Hello."))

    run = implementation.run('What do {city}, {{question}}, ${x}, $HOME, %s and {"a": 1} mean, at 100%?', agent=name)

    _holds_the_prompt(run, 1)


@requirement("prompt-reaches-the-model")
def test_prompt_without_tools(scenario: Scenario, implementation: Implementation) -> None:
    """The loop has no tools; the prompt with its system message is sent all the same."""
    scenario.plays(says("Hello."))

    run = implementation.run("What is the weather?", tools=[])

    _holds_the_prompt(run, 1)


@requirement("later-system-message-reaches-the-model")
@refusable("A driver may hand on the messages behind the first as they are; this row alone says so.")
def test_later_system_message(scenario: Scenario, implementation: Implementation) -> None:
    """The prompt has a second system message behind an answer; it may be joined with the first, or be the user's."""
    scenario.plays(says("Guten Tag."))

    run = implementation.run("Good morning.", agent="redirected")

    if run.failed and not run.requests:
        implementation.run().request(1)
        raise NotApplicable(f"the loop takes no second system message: it {run.outcome}")
    accepted(run.request(1))
    *_, later = (message for message in run.prompt if message[0] == "system")
    said = [one for one in run.request(1).request.items if isinstance(one, Said) and one.role != "assistant"]
    assert any(later[1] in one.text for one in said), f"request 1 lacks {plain(later[1])}, from system"
    _holds(run, 1, [message for message in run.prompt if message != later])


def _holds_the_prompt(run: Run, n: int) -> None:
    """Assert that a request has the prompt. A loop may add text, and merge several messages of one role."""
    _holds(run, n, run.prompt)
    if n == 1:
        assert all(isinstance(one, Said) for one in run.request(1).request.items), (
            "the first request contains more than messages"
        )


def _holds(run: Run, n: int, messages: Sequence[tuple[str, str]]) -> None:
    """Assert that a request has these messages, each once, in its role and order."""
    said = [item for item in run.request(n).request.items if isinstance(item, Said)]
    reached = (0, 0)
    for role, text in messages:
        places = [
            (place, item.text.index(text))
            for place, item in enumerate(said)
            if same_role(role, item.role) and text in item.text
        ]
        among = f"{plain(text, MOST)}, from {role}, among {plain(said, MOST)}"
        assert places, f"request {n} lacks {among}"
        assert 1 == len(places), f"request {n} contains {len(places)} times {among}"
        assert reached <= places[0], f"request {n} has {among} before an earlier message of the prompt"
        reached = places[0]


@requirement("history-only-grows")
def test_history_grows(scenario: Scenario, implementation: Implementation) -> None:
    """Each request begins with the history of the one before; a reminder may go, instructions may be written anew."""
    run = _conversation(scenario, implementation)

    for earlier, later in zip(run.requests, run.requests[1:], strict=False):
        before = lasting(run, earlier)
        kept = list(later.request.items[: len(before)])
        for place, (old, new) in enumerate(zip(before, kept, strict=False)):
            kept[place] = old if written_anew(run, old, new) else new
        there = [*map(alike, kept), *map(alike, later.request.items[len(before) :])]
        gone = ", ".join(plain(item, MOST) for item in before if alike(item) not in there)
        assert not gone, f"request {later.n} lacks what request {earlier.n} had: {gone}"
        assert list(map(alike, before)) == list(map(alike, kept))


@requirement("requests-are-well-formed")
def test_requests_are_accepted(scenario: Scenario, implementation: Implementation) -> None:
    """The service would accept every request of a conversation."""
    scenario.plays(
        calls(Call.of("weather", {"city": "Paris"}), Call.of("ping")),
        calls(Call.of("add", {"a": 1, "b": 2}), text="Now the sum."),
        says("That is all."),
    )

    run = implementation.run("What is the weather?")

    run.request(1)
    for received in run.requests:
        problems = [f"request {received.n} {p.refusal}: {p.reported} ({p.rule})" for p in received.problems]
        assert not problems, "\n".join(problems)
    run.request(3)


@requirement("requests-are-well-formed")
def test_neither_tools_nor_system(scenario: Scenario, implementation: Implementation) -> None:
    """A prompt of one question, without tools, leads to a request that the service accepts."""
    scenario.plays(says("Hello."))

    run = implementation.run("Who are you?", agent="bare")

    problems = [f"it {p.refusal}: {p.reported} ({p.rule})" for p in run.request(1).problems]
    assert not problems, "\n".join(problems)
    run.delivered(1)


@requirement("requests-ask-for-the-right-mode")
def test_stream_flag(scenario: Scenario, implementation: Implementation) -> None:
    """The field ``stream`` has the cell's value in every request."""
    run = _conversation(scenario, implementation)

    assert {implementation.cell.stream} == {received.request.stream for received in run.requests}


@requirement("model-name-is-sent")
def test_model_name(scenario: Scenario, implementation: Implementation) -> None:
    """The field ``model`` is the one that the case named."""
    run = _conversation(scenario, implementation)

    assert {MODEL} == {received.request.model for received in run.requests}


@requirement("model-name-is-sent")
def test_model_name_of_replies(scenario: Scenario, implementation: Implementation) -> None:
    """Replies name another model, as services do where the caller's name is an alias; requests still have the alias."""
    scenario.plays(Step(calls(Call.of("ping")), DEFAULT.but(quirk="model-dated")), says("That is all."))

    run = implementation.run()

    run.request(2)
    named = [received.request.model for received in run.requests]
    assert [MODEL] * len(named) == named, f"the caller's model is {MODEL}; the requests name {', '.join(named)}"


@requirement("arguments-are-echoed-as-given")
def test_arguments_are_echoed(scenario: Scenario, implementation: Implementation) -> None:
    """Unusual but valid JSON comes back as the same value; whether its text is the same is recorded."""
    written = """{ "speed": "fast", "customer": {"name": "caf\\u00e9 \\u2028 \\"quoted\\"",  "known": true},
        "lines": [ {"item": "", "count": 1, "price": 1.50}, {"price": 1e3, "item": "\\/", "count": 0} ] }"""
    scenario.plays(calls(Call("order", written)), says("Ordered."))

    run = implementation.run(agent="clerk")

    echoed = run.echoed(1)
    names = [asked.tool for asked in echoed]
    assert ["order"] == names, (
        f"the turn calls order, and the next request carries {plain(names) if names else 'no call'}"
    )
    told = f"the arguments go back as {plain(echoed[0].arguments, MOST)}"
    assert agrees(Asked(echoed[0].id, "order", written), echoed[0]), told


@requirement("text-beside-calls-is-echoed")
def test_text_beside_calls(scenario: Scenario, implementation: Implementation) -> None:
    """The next request contains the text of a turn with calls."""
    scenario.plays(calls(Call.of("ping"), text="One moment."), says("Done."))

    run = implementation.run()

    run.delivered(1)
    said = [item.text.strip() for item in run.request(2).request.items if isinstance(item, Said)]
    assert "One moment." in said, (
        f"the turn says 'One moment.' beside its call; the texts of the next request are {plain(said)}"
    )


@requirement("nothing-is-no-word")
def test_no_text_beside_a_call(scenario: Scenario, implementation: Implementation) -> None:
    """A turn has a call and no text; the next request has no text from the assistant that is a word for nothing."""
    scenario.plays(calls(Call.of("ping")), says("Done."))

    run = implementation.run()

    run.delivered(1)
    said = [item.text for item in run.request(2).request.items if isinstance(item, Said) and item.role == "assistant"]
    assert [] == [text for text in said if _stands_for_nothing(text)]


@requirement("nothing-is-no-word")
def test_no_text_at_all(scenario: Scenario, implementation: Implementation) -> None:
    """The answer has no text; what the caller gets is no word for nothing."""
    scenario.plays(calls(Call.of("ping")), Turn(), says("Whoever asks for text has it."))

    run = implementation.run()

    run.delivered(2)
    if isinstance(run.outcome, Value) and run.outcome.text is not None:
        assert not _stands_for_nothing(run.outcome.text), f"the loop {run.outcome}"


def _stands_for_nothing(text: str) -> bool:
    return text.strip().lower() in NOTHING
