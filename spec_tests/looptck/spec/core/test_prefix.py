"""The prefix of a request: what was sent before is sent again as the same JSON, so that the service's caches hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest

from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk
from looptck.spec.reminding import lasting_body
from looptck.values.plain import amount
from looptck.values.turns import Call, Turn, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

HISTORY = ("messages", "input")
SETTINGS = ("tools", "system", "instructions")
"""The members that come before the history in what the model reads."""
MARK = "cache_control"
"""A mark of the caller's that moves with the end of the history and is no part of what is compared."""
ROUNDS = (
    calls(Call.of("weather", {"city": "Zürich"})),
    calls(Call.of("add", {"b": 2, "a": 1}), Call.of("ping")),
    calls(Call.of("note", {"text": " in between\n"})),
)


SPEAKING = (calls(Call.of("weather", {"city": "Zürich"}), text="I look.  "), *ROUNDS[1:])


@requirement("prefix-is-the-same")
@pytest.mark.parametrize("rounds", [ROUNDS, SPEAKING], ids=["calls", "text-beside-calls"])
def test_the_prefix_is_the_same(scenario: Scenario, implementation: Implementation, rounds: tuple[Turn, ...]) -> None:
    """Three rounds: what a request says is the beginning of what the next one says, to the order of members."""
    scenario.plays(*rounds, says("Done."))

    run = implementation.run()

    run.request(len(rounds) + 1)
    _is_kept(run)


@requirement("prefix-is-the-same")
def test_equal_results(scenario: Scenario, implementation: Implementation) -> None:
    """The tools of three rounds return the same text; what was sent of the earlier ones stays as it was."""
    scenario.plays(*ROUNDS, says("Done."))
    for tool in ("weather", "add", "ping", "note"):
        scenario.returns(tool, "The same as ever.")

    run = implementation.run()

    run.request(len(ROUNDS) + 1)
    _is_kept(run)


@requirement("prefix-is-the-same")
def test_a_failed_result_stays(scenario: Scenario, implementation: Implementation) -> None:
    """A tool raises in the first round of three: what was sent of that stays as it was, its mark too.

    A loop may end with the error, and may switch off the tool that has failed.
    """
    scenario.plays(*ROUNDS, says("Done."))
    scenario.raises("weather", "no such place")

    run = implementation.run()

    run.delivered(1)
    if run.ended and len(run.requests) == 1:
        raise NotApplicable(f"the loop does not ask again after a tool that raises: it {run.outcome}")
    run.request(len(ROUNDS) + 1)
    _is_kept(run, settings=())


@requirement("prefix-is-the-same")
@on("openai-chat/*/*", "anthropic-messages/*/*")
def test_a_turn_stays_one_message(scenario: Scenario, implementation: Implementation) -> None:
    """The two calls of a turn are in one message; the next question of the conversation has them in one too."""
    implementation.needs("conversations")
    talk = Talk(implementation)
    scenario.plays(ROUNDS[1], says("Done."))
    before = _messages_of_calls(talk.run("Add and ping."), 2)
    scenario.plays(says("It is noon."))

    after = _messages_of_calls(talk.run("What time is it?"), 1)

    if not before or not after:
        raise NotReached("a request does not carry the calls of the turn")
    one, other = (amount(len(places), "message") for places in (before, after))
    assert one == other, f"the run sent the calls of a turn in {one}, and the next question has them in {other}"


def _messages_of_calls(run: Run, n: int) -> set[str]:
    """The places of the messages of a request that have calls."""
    return {"/".join(call.pointer.split("/")[:3]) for call in run.request(n).request.asked}


def _is_kept(run: Run, settings: Sequence[str] = SETTINGS) -> None:
    """Assert that each request begins as the one before it, whose last words may be a reminder for it alone."""
    for before, after in pairwise(run.requests):
        if after.request.continues is None:  # otherwise the service has the history
            found = _difference(before.body, after.body, settings)
            gone = found is not None and _difference(lasting_body(run, before), after.body, settings) is None
            assert found is None or gone, f"request {after.n} {found}"


def _difference(before: dict[str, Any], after: dict[str, Any], settings: Sequence[str]) -> str | None:
    """The first place at which a request does not begin as the one before it."""
    for name in settings:
        if (found := _first(before.get(name), after.get(name), f"/{name}")) is not None:
            return found
    for name in HISTORY:
        old, new = before.get(name), after.get(name)
        if isinstance(old, str) and isinstance(new, list):
            old, new = [old], [_lone(item) for item in new[:1]]
        if isinstance(old, list) and isinstance(new, list):
            new = new[: len(old)]
            if old and len(new) == len(old) and _goes_on(old[-1], new[-1]):
                old, new = old[:-1], new[:-1]
        if (found := _first(old, new, f"/{name}")) is not None:
            return found
    return None


def _goes_on(old: Any, new: Any) -> bool:
    """Whether a message is the beginning of another: more words of the same role, which stay behind its own."""
    if not isinstance(old, dict) or not isinstance(new, dict) or [*old] != [*new]:
        return False
    if {**old, "content": None} != {**new, "content": None}:
        return False
    match _unmarked(old.get("content")), _unmarked(new.get("content")):
        case (str(before), str(after)):
            return after.startswith(before)
        case (list(before), list(after)):
            return _first(before, after[: len(before)], "") is None
        case _:
            return False


def _lone(item: Any) -> Any:
    """The text of a user's message with one text, for which the Responses API takes that text too."""
    if not isinstance(item, dict) or item.get("role") != "user":
        return item
    content = item.get("content")
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        return content[0].get("text", content)
    return content


def _first(old: Any, new: Any, pointer: str) -> str | None:
    """The first place at which two JSON values differ, members in their order; None: there is none."""
    old, new = _unmarked(old), _unmarked(new)
    if isinstance(old, dict) and isinstance(new, dict) and [*old] == [*new]:
        return next(_differences(((name, old[name], new[name]) for name in old), pointer), None)
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return next(_differences(((str(n), one, new[n]) for n, one in enumerate(old)), pointer), None)
    if _text(old) == _text(new):
        return None
    return f"has {_text(new)} at {pointer}, where the one before it had {_text(old)}"


def _differences(pairs: Iterator[tuple[str, Any, Any]], pointer: str) -> Iterator[str]:
    for name, old, new in pairs:
        if (found := _first(old, new, f"{pointer}/{name}")) is not None:
            yield found


def _unmarked(value: Any) -> Any:
    """A value without its mark. A text in a block of its own, as a mark needs it, is that text."""
    if isinstance(value, dict):
        return {name: one for name, one in value.items() if name != MARK}
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        block = _unmarked(value[0])
        return block["text"] if [*block] == ["type", "text"] and block["type"] == "text" else value
    return value


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
