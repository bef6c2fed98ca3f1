"""Usage: the caller is told what all replies of its run have used, each once, and nothing of other runs."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from looptck.bench.assertions.caller import shows_failure
from looptck.bench.assertions.usage import told, usage_is_the_sum, using
from looptck.bench.bench import Running
from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk
from looptck.provider.gate import Gate
from looptck.provider.script import RUNAWAY_CAP, Step
from looptck.spec import outputs
from looptck.spec.casting import BILLING, FRONT, Cast, Part, asks, requests_of
from looptck.values.framing import DEFAULT, Framing, Quirk
from looptck.values.outcome import Value
from looptck.values.transcript import Ended
from looptck.values.turns import Call, Turn, Usage, calls, says, turn
from looptck.values.verdicts import NotApplicable, NotReached
from looptck.wires import WIRES

QUESTION, TASK, REPORT, DONE = "Please see to my order.", "Find my order.", "It was sent back.", "All is settled."
AGENTS = (replace(FRONT, subagents=["billing"]), BILLING)
BROKEN = Call("weather", '{"city": "Par')
PARIS, ROME = (Call.of("weather", {"city": city}) for city in ("Paris", "Rome"))
ONE_ANSWER = (using(says("Hello."), Usage(311, 23)),)
ONE_ROUND = (using(calls(PARIS), Usage(311, 23)), using(says("It is fine."), Usage(457, 67)))
ROUNDS = (
    using(calls(PARIS), Usage(311, 23)),
    using(calls(ROME, Call.of("ping")), Usage(641, 67)),
    using(says("It is fine."), Usage(457, 41)),
)
"""The numbers differ from reply to reply, and so do their sums."""


def _played(implementation: Implementation, turns: tuple[Turn, ...], framing: Framing = DEFAULT) -> Run:
    """A run in which the model was asked for all of these turns."""
    implementation.scenario.plays(*(Step(turn, framing) for turn in turns))
    run = implementation.run()
    run.delivered(len(turns))
    return run


@requirement("usage-is-the-sum")
@pytest.mark.parametrize("turns", [ONE_ANSWER, ONE_ROUND, ROUNDS], ids=["an-answer", "one-round", "two-rounds"])
def test_sum(implementation: Implementation, turns: tuple[Turn, ...]) -> None:
    """Each reply of a run reports other numbers."""
    usage_is_the_sum(_played(implementation, turns))


@requirement("usage-is-the-sum")
@on("openai-*/*/*")
def test_sum_with_reasoning(implementation: Implementation) -> None:
    """The model has thought before each turn: what that has used is told beside the output, and is a part of it."""
    thought = (Usage(311, 230, reasoning=190), Usage(457, 67, reasoning=41))
    run = _played(implementation, (using(calls(PARIS), thought[0]), using(says("It is fine."), thought[1])))

    if told(run).get("output_tokens") == sum(one.output - one.reasoning for one in thought):
        raise NotApplicable("the loop tells its caller the tokens of the output without those of the reasoning")
    usage_is_the_sum(run)


@requirement("usage-is-the-sum")
@on("openai-*/*/*", "anthropic-messages/stream/*")
def test_sum_with_bad_arguments(scenario: Scenario, implementation: Implementation) -> None:
    """The arguments of a call are no JSON; the reply with them counts as any other does."""
    turns = (using(calls(BROKEN), Usage(311, 23)), using(says("It is not known."), Usage(457, 67)))
    scenario.plays(*turns)

    run = implementation.run()

    if shows_failure(run) and len(run.requests) == 1:
        raise NotApplicable(f"bad arguments end the run: the loop {run.outcome}")
    run.delivered(2)
    usage_is_the_sum(run, part=([Usage(457, 67)], "leaves out the reply whose arguments are no JSON"))


@requirement("usage-is-the-sum")
@on("anthropic-messages/*/*")
def test_sum_with_a_pause(implementation: Implementation) -> None:
    """The service pauses a turn and goes on with it; each of the two replies reports what it has used itself."""
    implementation.needs("hosted")
    paused = turn("I search.", stop="pause")

    run = _played(implementation, (using(paused, Usage(311, 23)), using(says("It is fine."), Usage(457, 67))))

    usage_is_the_sum(run, part=([Usage(457, 67)], "leaves out the reply that paused"))


@requirement("usage-is-the-sum")
def test_sum_with_an_output_asked_for_again(scenario: Scenario, implementation: Implementation) -> None:
    """The model answers in words where an output is due, and is asked again; both replies have used tokens."""
    implementation.needs("output")
    replies = (
        (lambda at: using(outputs.tells(outputs.WORDS)(at), Usage(311, 23))),
        (lambda at: using(outputs.gives(outputs.GOOD)(at), Usage(457, 67))),
    )

    run = outputs.run_for(scenario, implementation, *replies)

    outputs.given(run, outputs.wanted())
    if shows_failure(run) or len(run.requests) == 1:
        raise NotApplicable(f"the loop does not ask again: it {run.outcome}")
    usage_is_the_sum(run, part=([Usage(457, 67)], "leaves out the reply that had no output"))


@requirement("usage-includes-subagents")
def test_with_a_subagent(scenario: Scenario, implementation: Implementation) -> None:
    """The first agent has a task done by a sub-agent, whose replies belong to the run."""
    cast = Cast(implementation, AGENTS, [Part("front", [[asks("billing", TASK)], [DONE]]), Part("billing", [[REPORT]])])
    numbers = iter((Usage(311, 23), Usage(641, 67), Usage(457, 41), *[Usage(1361, 151)] * RUNAWAY_CAP))
    scenario.listens(lambda body: using(cast.turn(body), next(numbers)))

    run = implementation.run(QUESTION, **cast.how)

    cast.reached()
    if not requests_of(run, AGENTS, "billing"):
        raise NotReached(f"the sub-agent was never asked; the loop {run.outcome}")
    own = [run.delivered(received.n).usage for received in requests_of(run, AGENTS, "front")]
    usage_is_the_sum(run, part=([one for one in own if one], "leaves out what the sub-agent has used"))


@requirement("usage-is-asked-for")
def test_asked_for(implementation: Implementation) -> None:
    """Each request of a run that asks for a stream asks for its usage."""
    run = _played(implementation, ONE_ROUND)

    for received in run.requests:
        assert WIRES[run.cell.wire].tells_usage(received.body), (
            f"request {received.n} asks for a stream without stream_options.include_usage, so no usage comes with it"
        )


@requirement("cumulative-usage-counts-once")
@pytest.mark.parametrize(
    "framing",
    [
        DEFAULT,
        DEFAULT.but(split_end=True),
        DEFAULT.but(quirk="counts-missing"),
        DEFAULT.but(quirk="counts-null"),
        DEFAULT.but(quirk="counts-grow"),
    ],
    ids=["at-the-end", "on-the-way", "output-alone", "input-null", "input-grows"],
)
def test_cumulative(implementation: Implementation, framing: Framing) -> None:
    """The output is counted at the start, at the end, and on the way; the input at the start, and at the end or not.

    Where the service's tools read more while the message is written, the input at the end is larger. What the caller is
    told of the usual counts it is told of these too.
    """
    usual = told(_played(implementation, ONE_ROUND)) if framing != DEFAULT else {}
    run = _played(implementation, ONE_ROUND, framing)

    usage_is_the_sum(run)
    for name in usual:
        assert name in told(run), f"the caller is told no {name}, which it is told where the end repeats all counts"


@requirement("repeated-events-change-nothing")
def test_a_repeated_start(implementation: Implementation) -> None:
    """The start of a message comes twice, with the same id and the same counts, which count once."""
    implementation.needs("usage")
    run = _played(implementation, ONE_ROUND, DEFAULT.but(quirk="start-repeated"))

    if run.failed and not run.tools_ran:
        raise NotApplicable(f"no message starts twice, and the loop refuses the stream: it {run.outcome}")
    usage_is_the_sum(run, more="adds up what both starts say")


PLACES: dict[Quirk, str] = {
    "usage-beside-finish": "in the chunk with the finish reason",
    "usage-then-none": "in the chunk with the finish reason, and a later chunk has none",
    "usage-in-every-chunk": "in each chunk",
}


@requirement("usage-in-any-chunk-counts-once")
@pytest.mark.parametrize("quirk", PLACES)
def test_any_chunk(implementation: Implementation, quirk: Quirk) -> None:
    """The usage comes in the chunk with the finish reason, with or without one behind it, or so far in each chunk."""
    _played(implementation, ONE_ROUND)
    implementation.scenario.plays(*(Step(turn, DEFAULT.but(quirk=quirk)) for turn in ONE_ROUND))

    run = implementation.run()

    run.replied(1)
    assert len(run.requests) == len(ONE_ROUND), (
        f"the usage of a stream comes {PLACES[quirk]}, and so the loop {run.outcome}; it goes on where usage comes last"
    )
    usage_is_the_sum(run, more="adds up what several chunks say")


@requirement("usage-of-a-run-is-its-own")
@pytest.mark.parametrize("shared", [False, True], ids=["two-agents", "one-agent"])
def test_one_after_the_other(scenario: Scenario, implementation: Implementation, shared: bool) -> None:
    """Three runs of one answer each, by one agent object or not."""
    if shared:
        implementation.needs("shared")
    talk = Talk(implementation, named=False)
    runs: list[Run] = []
    for number, usage in enumerate((Usage(311, 23), Usage(457, 41), Usage(1361, 151))):
        scenario.plays(using(says("Hello."), usage))
        runs.append(talk.run(f"Greeting {number}.", shared=talk.id if shared else None))
        runs[-1].delivered(1)

    for earlier, run in pairwise(runs):
        usage_is_the_sum(run, earlier=earlier)
    usage_is_the_sum(runs[0])


@requirement("usage-of-a-run-is-its-own")
@pytest.mark.parametrize("shared", [False, True], ids=["two-agents", "one-agent"])
def test_at_the_same_time(scenario: Scenario, implementation: Implementation, shared: bool) -> None:
    """Two runs overlap, unless one agent object makes one wait or refuses it.

    The answer of the second run waits for the end of the first one.
    """
    implementation.needs("concurrent")
    if shared:
        implementation.needs("shared")
    talk = Talk(implementation, named=False)
    both = Gate("the other run has asked too", patience=3.0, if_ever=True)
    ended = Gate("the first run has ended", lambda event: isinstance(event, Ended), patience=3.0, if_ever=True)
    of = {"violet": (Usage(311, 23), Usage(457, 41)), "indigo": (Usage(1361, 151), Usage(2003, 307))}
    running: dict[str, Running] = {}
    for color, (first, last) in of.items():
        asks, says_it = using(calls(PARIS), first), using(says(f"It is {color}."), last)
        if not running:
            scenario.plays(Step(asks, before=both), says_it)
        else:
            scenario.plays(asks, Step(says_it, before=ended), signal=both)
        scenario.watching = () if running else (both, ended)
        running[color] = talk.begin(f"What is {color}?", mark=color, shared=talk.id if shared else None)
        if len(running) == 1:  # the second run begins when the first one has asked, so that it is the later one
            both.reached(implementation.bench.patience.gate, running[color].future.done)
    runs = {color: implementation.end(one) for color, one in running.items()}

    if any(received.request.relies for run in runs.values() for received in run.requests):
        raise NotApplicable("the service keeps the history, so that a later request does not show its run")
    answered = [color for color, run in runs.items() if isinstance(run.outcome, Value)]
    if not answered:
        raise NotReached("neither of two runs at the same time was answered")
    for color in answered:
        other = next(runs[one] for one in answered if one != color) if len(answered) > 1 else None
        usage_is_the_sum(runs[color], beside=other)
