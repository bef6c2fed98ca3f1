"""Profile ``anthropic-loop``: pruning, by which long loops send only their latest rounds.

A round is a turn with calls and its results, with the paused turns that led to it. A round is removed or kept as a
whole, or its results are cleared: the skill removes old results and leaves their calls, and the service refuses such a
history, but takes a word in the place of each result, as its own editing of contexts leaves there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, groupby
from typing import Any

import pytest
from hypothesis import strategies as st

from looptck.bench.checks import Implementation, requirement
from looptck.bench.oracle import Owed, Wanted, difference
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.spec.reminding import has_words_of, lasting
from looptck.values.history import Answered, Asked, Item, Said
from looptck.values.plain import plain
from looptck.values.turns import Call, Hosted, Thinking, Turn, calls, says, turn

MOST_TURNS = 9
"""Together with the answer, the number of model calls that a loop makes without a limit."""
MOST_PAUSES = 3
"""Of the turns of a run. The vendor's own example continues five times."""
ROUNDS = [
    calls(Call.of("note", {"text": "one"})),
    turn(Thinking("Two of them."), "I look.", Call.of("note", {"text": "two"}), Call.of("ping")),
    turn(Thinking("Hm."), "Wait.", stop="pause"),
    calls(Call.of("weather", {"city": "Paris"})),
    calls(Call.of("note", {"text": "four"}), Call.of("note", {"text": "five"}), Call.of("ping"), text="Then these."),
    calls(Call.of("ping")),
]
"""Five rounds, the third with a paused turn before it."""
COUNT = 5
LINES = " ".join(f"line {n}," for n in range(60))
"""A text that nobody would cut, and that a loop which shortens old results would."""


def _rounds(run: Run, n: int) -> tuple[list[list[Wanted]], list[Wanted]]:
    """The rounds before request ``n``, and the turns after the last round, which were paused."""
    rounds: list[list[Wanted]] = [[]]
    for item in run.expected(n)[len(run.prompt) :]:
        if rounds[-1] and isinstance(rounds[-1][-1], Owed) and not isinstance(item, Owed):
            rounds.append([])
        rounds[-1].append(item)
    unfinished = [] if rounds[-1] and isinstance(rounds[-1][-1], Owed) else rounds.pop()
    return rounds, unfinished


def _latest(run: Run, n: int, keep: int) -> list[Wanted]:
    """The rounds that request ``n`` should carry, and the turns after them."""
    rounds, unfinished = _rounds(run, n)
    return [*(item for one in rounds[max(0, len(rounds) - keep) :] for item in one), *unfinished]


def _carried(run: Run, n: int) -> list[Item]:
    """The pieces of request ``n``, without reminders and texts behind results, which are not part of pruning."""
    carried: list[Item] = []
    message = None
    for item in run.normalized(n).items[: len(lasting(run, run.request(n)))]:
        place = item.pointer.rpartition("/")[0]
        if isinstance(item, Answered):
            message = place
        if not (isinstance(item, Said) and place == message):
            carried.append(item)
    return carried


def _same(n: int, wanted: Sequence[Wanted], items: Sequence[Item]) -> None:
    """Assert that request ``n`` has these pieces; the order of results is not part of pruning."""
    found = difference(_in_order(wanted), _in_order(items))
    assert found is None, f"request {n}, at {found.pointer}: {found.got}, expected {found.expected}"


def _has_results(n: int, wanted: Sequence[Wanted], items: Sequence[Item]) -> None:
    """Assert that no result has gone: without a round, the pieces behind it would be compared with others."""
    there = {item.id for item in items if isinstance(item, Answered)}
    lost = [owed.id for owed in wanted if isinstance(owed, Owed) and owed.id not in there]
    assert not lost, f"request {n} has lost the results of {plain(lost)}, which are of rounds to keep"


def _in_order(items: Sequence[Any]) -> list[Any]:
    """The pieces, with adjacent results sorted by the ids of their calls."""
    groups = groupby(items, key=lambda item: isinstance(item, Owed | Answered))
    return [item for sorts, group in groups for item in (sorted(group, key=lambda one: one.id) if sorts else group)]


def _ends_with_its_latest(run: Run, keep: int) -> None:
    for received in run.requests:
        wanted, items = _latest(run, received.n, keep), _carried(run, received.n)
        _has_results(received.n, wanted, items)
        _same(received.n, wanted, items[max(0, len(items) - len(wanted)) :])


def _has_nothing_older(run: Run, keep: int) -> None:
    for received in run.requests:
        rounds, _ = _rounds(run, received.n)
        old = [item for one in rounds[: max(0, len(rounds) - keep)] for item in one if isinstance(item, Owed)]
        items = run.normalized(received.n).items
        there = [owed.id for owed in old if _is_held(owed, items)]
        assert not there, f"request {received.n} still holds {plain(there)}, older than its latest {keep} rounds"


def _is_held(owed: Owed, items: Sequence[Item]) -> bool:
    """Whether a request has a result, or its call alone; a call whose result was cleared is what services keep too."""
    answers = [item.text for item in items if isinstance(item, Answered) and item.id == owed.id]
    if not answers:
        return any(isinstance(item, Asked) and item.id == owed.id for item in items)
    returned = owed.of_twins | {owed.text}
    return any(text is None or text in answer for text in returned for answer in answers)


def _is_prompt_and_latest(run: Run, keep: int) -> None:
    for received in run.requests:
        wanted, items = [*run.expected(1), *_latest(run, received.n, keep)], _carried(run, received.n)
        _has_results(received.n, wanted, items)
        _same(received.n, wanted, items)


def _pruned(
    scenario: Scenario, implementation: Implementation, keep: int | None, turns: list[Turn] = ROUNDS, **how: Any
) -> Run:
    """A run of these turns that keeps ``keep`` rounds and has ended.

    The service pauses turns for its own tools only, so none is paused for a loop that cannot offer them.
    """
    pauses = MOST_PAUSES if implementation.started.can("hosted") else 0
    paused = [number for number, turn in enumerate(turns) if turn.stopped == "pause"][pauses:]
    played = [turn for number, turn in enumerate(turns) if number not in paused]
    scenario.plays(*played, says("Done."))
    run = implementation.run(keep_rounds=keep, **how)
    run.request(len(played) + 1)
    return run


@requirement("claude-pruning-keeps-the-prompt")
@pytest.mark.parametrize("keep", [1, 3])
def test_prompt(scenario: Scenario, implementation: Implementation, keep: int) -> None:
    """Every request begins with the system prompt and the first user message, however much was pruned."""
    _begins_with_its_prompt(_pruned(scenario, implementation, keep))


@requirement("claude-pruning-keeps-the-prompt")
def test_prompt_of_several_messages(scenario: Scenario, implementation: Implementation) -> None:
    """Every request begins with all messages of a prompt that goes on with an earlier conversation."""
    turns = [calls(Call.of("ping")) for _ in range(3)]

    _begins_with_its_prompt(_pruned(scenario, implementation, 1, turns, agent="recalling"))


def _begins_with_its_prompt(run: Run) -> None:
    prompt = run.expected(1)
    for received in run.requests:
        begun = received.request.items[: len(prompt)]
        _same(received.n, prompt, [_without_note(want, got) for want, got in zip(prompt, begun, strict=False)])


def _without_note(want: Wanted, got: Item) -> Item:
    """A message of a request, or the given one if it has all words of that."""
    return want if isinstance(want, Said) and has_words_of(want, got) else got


@requirement("claude-pruning-keeps-the-latest-rounds")
@pytest.mark.parametrize("keep", [1, 2, 4])
def test_latest_rounds(scenario: Scenario, implementation: Implementation, keep: int) -> None:
    """Every request ends with its latest rounds, each piece in its place."""
    run = _pruned(scenario, implementation, keep)

    _ends_with_its_latest(run, keep)


@requirement("claude-pruning-keeps-the-latest-rounds")
def test_results_of_the_latest_rounds(scenario: Scenario, implementation: Implementation) -> None:
    """What is kept of results with several hundred characters is all of them."""
    for tool in ("note", "ping", "weather"):
        scenario.returns(tool, *(f"{tool} {n}: {LINES}" for n in range(COUNT)))

    run = _pruned(scenario, implementation, 2)

    _ends_with_its_latest(run, 2)


@requirement("claude-pruning-drops-older-rounds")
@pytest.mark.parametrize("keep", [1, 2, 4])
def test_older_rounds(scenario: Scenario, implementation: Implementation, keep: int) -> None:
    """No request has what a tool returned in a round older than its latest rounds, nor a call without a result."""
    run = _pruned(scenario, implementation, keep)

    _has_nothing_older(run, keep)


@requirement("claude-pruning-beyond-the-rounds-drops-none")
@pytest.mark.parametrize("keep", [COUNT, COUNT + 1, 100])
def test_all(scenario: Scenario, implementation: Implementation, keep: int) -> None:
    """Every request carries the whole history."""
    run = _pruned(scenario, implementation, keep)

    _is_prompt_and_latest(run, keep)


@requirement("claude-pruning-changes-no-tool-run")
@pytest.mark.parametrize("keep", [1, 3])
def test_tool_runs(scenario: Scenario, implementation: Implementation, keep: int) -> None:
    """The same tools run as without pruning, turn by turn, and the answer is the same."""
    whole = _pruned(scenario, implementation, None)
    run = _pruned(scenario, implementation, keep)

    assert whole.rounds == run.rounds
    assert whole.ending == run.ending


_CALLS = st.sampled_from([Call.of("note", {"text": "x"}), Call.of("ping"), Call.of("weather", {"city": "Paris"})])
_BEFORE = st.sampled_from([(), (Thinking("Hm."),), ("I look.",), (Thinking("Hm."), "I look.")])
"""Thinking leads: whether pieces go back in another order is the matter of rows about turns."""
_TURN = st.builds(lambda before, wanted: turn(*before, *wanted), _BEFORE, st.lists(_CALLS, min_size=1, max_size=3))
_PAUSE = st.sampled_from([turn("Wait.", stop="pause"), turn(Thinking("Hm."), "Wait.", stop="pause")])
_ROUND = st.builds(lambda pauses, turn: [*pauses, turn], st.lists(_PAUSE, max_size=2), _TURN)
CONVERSATION = st.lists(_ROUND, min_size=1, max_size=6).map(lambda rounds: [*chain(*rounds)][:MOST_TURNS])
"""One to six rounds of one to three calls, with paused turns before them."""
KEPT = st.integers(1, 7)


@requirement("claude-pruning-leaves-no-orphan")
def test_no_orphans(scenario: Scenario, implementation: Implementation) -> None:
    """In any conversation that keeps any number of rounds, calls and results are paired, and nothing is refused."""

    @implementation.every(CONVERSATION, KEPT)
    def holds(turns: list[Turn], keep: int) -> None:
        run = _pruned(scenario, implementation, keep, turns)

        for received in run.requests:
            assert () == received.problems, f"request {received.n}: {received.problems[0].message}"
            asked, answered = received.request.asked, received.request.answers
            assert Counter(one.id for one in asked) == Counter(one.id for one in answered), f"request {received.n}"


HOSTED = [
    turn(Hosted(), "I have searched.", Call.of("note", {"text": "one"})),
    turn(Hosted(done=False), stop="pause"),
    turn(Hosted("mcp"), Call.of("weather", {"city": "Paris"})),
    calls(Call.of("ping")),
]


@requirement("claude-pruning-leaves-no-orphan")
@pytest.mark.parametrize("keep", [1, 2])
def test_no_orphans_beside_tools_of_the_service(scenario: Scenario, implementation: Implementation, keep: int) -> None:
    """The same holds if the service runs its own tools and pauses a turn."""
    run = _pruned(scenario, implementation, keep, HOSTED)

    for received in run.requests:
        assert () == received.problems, f"request {received.n}: {received.problems[0].message}"


@requirement("claude-pruning-keeps-the-latest-rounds")
def test_latest_of_any(scenario: Scenario, implementation: Implementation) -> None:
    """In any conversation that keeps any number of rounds, every request ends with its latest rounds."""

    @implementation.every(CONVERSATION, KEPT)
    def holds(turns: list[Turn], keep: int) -> None:
        run = _pruned(scenario, implementation, keep, turns)

        _ends_with_its_latest(run, keep)


@requirement("claude-pruning-drops-older-rounds")
def test_older_of_any(scenario: Scenario, implementation: Implementation) -> None:
    """In any conversation that keeps any number of rounds, no request has anything older."""

    @implementation.every(CONVERSATION, KEPT)
    def holds(turns: list[Turn], keep: int) -> None:
        run = _pruned(scenario, implementation, keep, turns)

        _has_nothing_older(run, keep)
