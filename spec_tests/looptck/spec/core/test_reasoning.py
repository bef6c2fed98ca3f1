"""Reasoning that can be read: it is no text and hides no text, and goes back with the turn that it came with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from looptck.bench.assertions.tool_runs import tools_ran
from looptck.bench.assertions.turns import calls_echoed
from looptck.bench.checks import Implementation, requirement
from looptck.bench.oracle import agrees
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.script import Step
from looptck.values.framing import DEFAULT, MODEL
from looptck.values.history import Item, Opaque
from looptck.values.lenient import objects_in
from looptck.values.plain import plain
from looptck.values.turns import Call, Served, Thinking, calls, says, turn
from looptck.values.verdicts import NotApplicable
from looptck.wires.openai_chat.compatible import REASONING, SEALED

ANSWER = "It is done, and all is well."
WEATHER = calls(Call.of("weather", {"city": "Paris"}))
TWO_CALLS = calls(Call.of("weather", {"city": "Paris"}), Call.of("add", {"a": 1, "b": 2}))
MEMBERS = ("reasoning_content", "reasoning")
"""What servers call the reasoning of a message."""
THOUGHT = "The user wants to know the weather in Paris."
ENCRYPTED = "reasoning.encrypted_content"
"""What a request says that asks for the encrypted content of reasoning."""
FURTHER = "The tool has said enough for an answer."


@requirement("chat-reasoning-is-no-text")
def test_reasoning_is_no_text(scenario: Scenario, implementation: Implementation) -> None:
    """A turn with a call and the answer both come with reasoning, which is neither in the answer nor in its chunks."""
    reasons = DEFAULT.but(quirk="reasoning-content")
    scenario.plays(Step(WEATHER, reasons), Step(says(ANSWER), reasons))

    run = implementation.run()

    run.delivered(2)
    assert ANSWER == (run.value.text or "").strip()
    assert "Let me see" not in "".join(chunk.text for chunk in run.chunks), "the chunks have the reasoning"


@requirement("chat-reasoning-is-no-text")
def test_reasoning_is_no_answer(scenario: Scenario, implementation: Implementation) -> None:
    """A turn has reasoning and an empty text; the loop may ask again, and never takes the reasoning for the answer."""
    reasons = DEFAULT.but(quirk="reasoning-content")
    scenario.plays(Step(says(""), reasons), says(ANSWER))

    run = implementation.run()

    run.delivered(1)
    assert run.failed or "Let me see" not in (run.value.text or ""), "the reasoning is returned as the answer"


@requirement("thinking-is-no-text")
def test_thinking_is_no_text(scenario: Scenario, implementation: Implementation) -> None:
    """A turn with a call and the answer both begin with thinking, which is neither in the answer nor in its chunks."""
    scenario.plays(turn(Thinking(THOUGHT), Call.of("weather", {"city": "Paris"})), turn(Thinking(FURTHER), ANSWER))

    run = implementation.run()

    run.delivered(2)
    got = run.value.text or ""
    chunks = "".join(chunk.text for chunk in run.chunks)
    for thought in (THOUGHT, FURTHER):
        assert thought not in got, f"the loop returned {plain(got)}, with what the model thought"
        assert thought not in chunks, f"the chunks are {plain(chunks)}, with what the model thought"


@requirement("earlier-thinking-stays")
def test_thinking_of_an_earlier_round(scenario: Scenario, implementation: Implementation) -> None:
    """The model thinks before the calls of two turns in a row: the last request has the thinking of both."""
    scenario.plays(
        turn(Thinking(THOUGHT), Call.of("weather", {"city": "Paris"})),
        turn(Thinking(FURTHER), Call.of("ping")),
        says(ANSWER),
    )

    run = implementation.run()

    run.request(3)
    sent = [item for item in run.echo(1) if isinstance(item, Opaque)]
    if not _has_all(run.added(1), sent):
        raise NotApplicable("the request after the first turn does not have its thinking, which other rows judge")
    assert _has_all(run.normalized(3).items, sent), (
        "request 3 no longer has what the model thought in turn 1, which belongs to the same question"
    )


def _has_all(items: Sequence[Item], wanted: Sequence[Opaque]) -> bool:
    return all(any(agrees(one, item) for item in items) for one in wanted)


@requirement("what-comes-beside-reasoning-is-kept")
def test_text_beside_reasoning(scenario: Scenario, implementation: Implementation) -> None:
    """The last piece of the reasoning and the first piece of the answer come in one delta; no text is lost."""
    scenario.plays(Step(says(ANSWER), DEFAULT.but(quirk="reasoning-beside")), says("Not asked for."))

    run = implementation.run()

    run.delivered(1)
    got = (run.value.text or "").strip()
    assert got.endswith(ANSWER), f"the text of the reply is {plain(ANSWER)}, and the loop returned {plain(got)}"


@requirement("what-comes-beside-reasoning-is-kept")
def test_a_call_beside_reasoning(scenario: Scenario, implementation: Implementation) -> None:
    """The last piece of the reasoning and the first piece of a call come in one delta; the call runs."""
    scenario.plays(Step(WEATHER, DEFAULT.but(quirk="reasoning-beside")), says(ANSWER))

    run = implementation.run()

    run.delivered(1)
    tools_ran(run, [{"weather": {"city": "Paris"}}])


@requirement("chat-reasoning-is-echoed")
def test_reasoning_is_echoed(scenario: Scenario, implementation: Implementation) -> None:
    """Each message with calls has its reasoning in all requests after it, as a member of the same name.

    Some loops do so only for a model of a service that demands it: one of the two names is enough.
    """
    reasons = DEFAULT.but(quirk="reasoning-content")

    def kept(run: Run, n: int) -> list[Any]:
        return [
            one.get("reasoning_content")
            for one in objects_in(run.request(n).body.get("messages"))
            if one.get("tool_calls")
        ]

    for model in (MODEL, "deepseek-reasoner"):
        scenario.plays(Step(TWO_CALLS, reasons), Step(WEATHER, reasons), says(ANSWER))
        run = implementation.run(model=model)
        run.request(3)
        if all(kept(run, n) == [REASONING] * (n - 1) for n in (2, 3)):
            break

    for n in (2, 3):
        calls_echoed(run, n - 1)
        found = kept(run, n)
        others = [one for one in found if one not in (None, REASONING)]
        has = f"the reasoning {plain(others[0])}, not {plain(REASONING)}" if others else "no `reasoning_content`"
        assert [REASONING] * (n - 1) == found, (
            f"the message with calls in request {n} has {has}, though its turn came with it"
        )


@requirement("reasoning-details-go-back-whole")
def test_details_go_back_whole(scenario: Scenario, implementation: Implementation) -> None:
    """Two turns have calls and details of their reasoning; where details go back, the readable and the sealed ones do.

    A loop that knows nothing of such a list sends none back. How the pieces of a stream are joined is its own choice.
    """
    details = DEFAULT.but(quirk="reasoning-details")
    scenario.plays(Step(TWO_CALLS, details), Step(WEATHER, details), says(ANSWER))

    run = implementation.run()

    turns = [one for one in objects_in(run.request(3).body.get("messages")) if one.get("tool_calls")]
    if not any(one.get("reasoning_details") for one in turns):
        raise NotApplicable("the loop sends back no details of reasoning")
    for one in turns:
        sent = one.get("reasoning_details")
        parts = objects_in(sent)
        found = [
            "".join(str(part.get(name) or "") for part in parts if part.get("type") == kind)
            for kind, name in (("reasoning.text", "text"), ("reasoning.encrypted", "data"))
        ]
        assert [REASONING, SEALED] == found, (
            f"a turn came with the readable reasoning {plain(REASONING)} and a sealed part, and goes back with "
            f"{plain(sent)}"
        )


@requirement("no-reasoning-is-added")
def test_no_reasoning_is_added(scenario: Scenario, implementation: Implementation) -> None:
    """No reply has reasoning, and no message has a member for it that is more than null."""
    scenario.plays(WEATHER, calls(Call.of("ping")), says(ANSWER))

    run = implementation.run()

    for message in objects_in(run.request(3).body.get("messages")):
        added = [name for name in MEMBERS if message.get(name) is not None]
        assert not added, (
            f"a turn came without reasoning, and is sent back with the member {added[0]} {plain(message[added[0]])}"
        )


@requirement("readable-reasoning-is-echoed")
def test_readable_reasoning(scenario: Scenario, implementation: Implementation) -> None:
    """A reasoning item has its text and no encrypted content; the item goes back with the text if nothing is stored."""
    content = [{"type": "reasoning_text", "text": THOUGHT}]
    item = {"id": "rs_looptck_readable", "type": "reasoning", "summary": [], "content": content}
    thought = Served(json.dumps({**item, "encrypted_content": "", "status": "completed"}))
    scenario.plays(turn(thought, *WEATHER.calls), says(ANSWER))

    run = implementation.run()

    body = run.request(2).body
    sent = [one for one in body["input"] if isinstance(one, dict) and one.get("type") == "reasoning"]
    texts = [part.get("text") for one in sent for part in one.get("content") or () if isinstance(part, dict)]
    if THOUGHT not in texts and body.get("store") is not False:
        raise NotApplicable("the request does not forbid storing, so a service may know the reasoning from its reply")
    assert [THOUGHT] == texts, (
        f"a reasoning item came with the text {plain(THOUGHT)}, and goes back as {plain(sent) if sent else 'nothing'}"
    )


@requirement("encrypted-reasoning-is-asked-for")
def test_encrypted_reasoning_is_asked_for(scenario: Scenario, implementation: Implementation) -> None:
    """The model reasons before it calls, and the request says that the service stores nothing."""
    scenario.plays(turn(Thinking(THOUGHT), *WEATHER.calls), says(ANSWER))

    run = implementation.run()

    run.delivered(1)
    body = run.request(1).body
    if body.get("store") is not False:
        raise NotApplicable("the request does not forbid storing, so the service keeps the reasoning itself")
    asks = ENCRYPTED in (body.get("include") or ())
    if not asks and not any(one.get("type") == "reasoning" for one in objects_in(run.request(2).body.get("input"))):
        raise NotApplicable("the loop sends no reasoning back, which other rows judge")
    assert asks, (
        f"request 1 says `store: false` and does not say `include: {plain([ENCRYPTED])}`, so reasoning comes "
        "without what the service needs to take it back; a loop that is for models that do not reason alone declares "
        "dialect.models"
    )
