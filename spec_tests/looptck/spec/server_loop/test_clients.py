"""Server-side loops: clients that leave or read slowly, and tools that hang, do not affect other clients."""

from __future__ import annotations

from typing import Any

from looptck.bench.assertions.results import one_result
from looptck.bench.bench import Running
from looptck.bench.checks import lengthy, requirement
from looptck.bench.client.export import exported
from looptck.bench.client.reply import PROGRESS, Progress
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.provider.gate import Gate
from looptck.provider.gates import tool_began
from looptck.provider.script import Step
from looptck.provider.toolbox import Behaviour, Returns
from looptck.spec.server_loop.clients import Client, phases_of
from looptck.spec.server_loop.replies import json_of
from looptck.spec.server_loop.sessions import comparable, fresh, path
from looptck.values.framing import Framing
from looptck.values.history import Answered, Asked, Item
from looptck.values.lenient import as_object
from looptck.values.plain import plain, times
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached

ROUNDS = 10
LEAVER, STAYER = Client("leaver"), Client("stayer")
HANGING, OTHER, SLOW = Client("hanging"), Client("other"), Client("slow")
LARGE = "0123456789abcdef" * 62_500
"""One million characters. Arguments and results of this size in three rounds exceed all buffers between a server and a
client that does not read."""
IN_LARGE_PIECES = Framing(fragment=16_384)
"""Large arguments come in few deltas: how long a server takes to join many small ones is not the question here."""


def _does(scenario: Scenario, client: Client, *behaviours: Behaviour) -> None:
    """Let the tool of one client behave like this; no other client calls this tool."""
    scenario.behaviours = {client.tool.name: behaviours}


def _ask(scenario: Scenario, server: ServerUnderTest, client: Client, rounds: int, **how: Any) -> Running:
    scenario.plays(*client.turns(rounds))
    _does(scenario, client, *client.results(rounds))
    return server.begin(client.question, tools=(client.tool,), **how)


def _served(scenario: Scenario, server: ServerUnderTest, client: Client, rounds: int, **how: Any) -> Run:
    """The complete run of an undisturbed client.

    Raises:
        NotReached: the client gets no answer, or its tools do not run.
    """
    run = server.end(_ask(scenario, server, client, rounds, **how))
    if run.got.text != client.answer or len(run.ran) != rounds:
        raise NotReached(
            f"control: {client.name} should get an answer after {rounds} rounds: {len(run.ran)} ran, {run.got}"
        )
    return run


def _left(scenario: Scenario, server: ServerUnderTest, **how: Any) -> Run:
    """The run of a client that leaves during its second call, which is held; then another client has ten rounds.

    Raises:
        NotReached: the second call was never made, or the other client was not served.
    """
    held, let_go = tool_began(LEAVER.tool.name, 2), Gate("the client has left")
    patience = server.implementation.bench.patience.gate

    def leaves(event: Any) -> bool:
        data = as_object(event.value)
        return event.name == PROGRESS and data.get("round") == 1 and held.wait_here(patience)

    scenario.plays(*LEAVER.turns(ROUNDS))
    _does(scenario, LEAVER, Returns("first"), Returns("second", hold=let_go), Returns("later"))
    scenario.watching = (held,)
    gone = server.begin(LEAVER.question, tools=(LEAVER.tool,), on_event=leaves, **how)
    scenario.watching = ()
    gone.future.result(server.implementation.bench.patience.outcome)
    let_go.open()
    try:
        _served(scenario, server, STAYER, ROUNDS)
    finally:
        run = server.end(gone)
    if not run.got.left or run.gave_up:
        raise NotReached(f"the client did not leave during its second call, which should have been held: {run.got}")
    return run


@requirement("server-client-gone-stops-the-run")
def test_client_leaves(scenario: Scenario, server: ServerUnderTest) -> None:
    """A client leaves during its second call, and no third call runs; a client that stays gets all ten."""
    run = _left(scenario, server)

    assert 2 == len(run.ran), f"{len(run.ran)} tools were run for a client who had left during the second"


@requirement("server-client-gone-leaves-the-session-whole")
def test_session_of_a_leaver(scenario: Scenario, server: ServerUnderTest) -> None:
    """The client's earlier session is unchanged, or has a result for each call; so has a session that it began."""
    old, new = fresh(), fresh()
    _served(scenario, server, LEAVER, 1, session=old)
    before = _kept(server, old)
    if not any(isinstance(item, Asked) for item in before or ()):
        raise NotReached(f"control: after a complete run the session holds {plain(comparable(before or ()))}")

    for session, was in ((old, before), (new, None)):
        _left(scenario, server, session=session)

        now = _kept(server, session)
        outcome = "as-before" if now == was else "with-the-run"
        server.implementation.diverges("session_of_a_client_that_left", outcome)
        assert now == was or (now is not None and _is_whole(now)), f"the session holds a call without its result: {now}"


def _kept(server: ServerUnderTest, session: str) -> list[Item] | None:
    with server.http() as client:
        got = client.get(path(session))
    return exported(json_of(got)) if got.status_code == 200 else None


def _is_whole(items: list[Item]) -> bool:
    """Whether each call has its result."""
    asked = [item.id for item in items if isinstance(item, Asked)]
    answered = [item.id for item in items if isinstance(item, Answered)]
    return asked == answered


@requirement("server-hanging-dispatch-holds-up-nobody")
def test_others_are_served(scenario: Scenario, server: ServerUnderTest) -> None:
    """While one client's call is held another client is served; then the first one gets its answer too."""
    held, let_go = tool_began(HANGING.tool.name), Gate("the other client has its answer")
    scenario.plays(*HANGING.turns(1))
    _does(scenario, HANGING, Returns("at last", hold=let_go))
    scenario.watching = (held,)
    hanging = server.begin(HANGING.question, tools=(HANGING.tool,))
    scenario.watching = ()
    patience = server.implementation.bench.patience.gate
    if not held.wait_here(patience):
        raise NotReached(f"the call that should have been held {_late(server.end(hanging), patience)}")

    other = server.end(_ask(scenario, server, OTHER, 1))
    let_go.open()
    run = server.end(hanging)

    assert [] == run.gave_up, "the other client got no answer until the call timed out"
    assert other.got.ok, f"the other client got {other.got}"
    assert OTHER.answer == other.got.text
    assert run.got.ok, f"the first client got {run.got}"
    assert HANGING.answer == run.got.text


def _late(run: Run, patience: float) -> str:
    """What became of the first call of a run, which was awaited for these seconds."""
    when = f"was made {run.ran[0].began:.1f} s after its request" if run.ran else "was never made"
    return f"{when}, and awaited for {patience:g} s; the client got {run.got}"


@lengthy
@requirement("server-hanging-dispatch-ends")
def test_no_answer(scenario: Scenario, server: ServerUnderTest) -> None:
    """The endpoint never answers: the server abandons the call, and the model is informed."""
    _served(scenario, server, OTHER, 1, setup="timeout")
    never = Gate("the endpoint answers")
    scenario.plays(*HANGING.turns(1))
    _does(scenario, HANGING, Returns("too late", hold=never))

    run = server.ask(HANGING.question, tools=(HANGING.tool,), setup="timeout")

    if not run.ran:
        raise NotReached("the call that should have hung was never made")
    assert [] == run.gave_up, "the server did not abandon the call before the endpoint answered"
    assert run.got.ok, f"the client got {run.got}"
    assert HANGING.answer == run.got.text
    assert 1 == len(run.ran), f"the call that never ended ran {times(len(run.ran))}"
    if server.can("upstream"):
        assert one_result(run, 1).text.strip(), "the model got no result for the call that never ended"


@lengthy
@requirement("server-slow-readers-lose-nothing")
def test_slow_reader(scenario: Scenario, server: ServerUnderTest) -> None:
    """A client stops reading after the first event; another has ten rounds; then the first gets all its events."""
    patience = server.implementation.bench.patience
    began, go_on = tool_began(SLOW.tool.name), Gate("the other client has its answer")
    waited: list[bool] = []

    def slowly(event: Any) -> None:
        if not waited:
            waited.append(go_on.wait_here(patience.outcome))  # megabytes go to and fro

    turns = (calls(Call.of(SLOW.tool.name, {"text": f"{n} {LARGE}"})) for n in range(3))
    scenario.plays(*(Step(turn, IN_LARGE_PIECES) for turn in turns), says(SLOW.answer))
    _does(scenario, SLOW, *(Returns(f"{n} {LARGE}") for n in range(3)))
    scenario.watching = (began,)
    slow = server.begin(SLOW.question, tools=(SLOW.tool,), on_event=slowly)
    scenario.watching = ()
    if not began.wait_here(patience.gate):
        go_on.open()
        raise NotReached(f"the first call of the slow client {_late(server.end(slow), patience.gate)}")

    other = server.end(_ask(scenario, server, OTHER, ROUNDS))
    go_on.open()
    run = server.end(slow)

    assert [True] == waited, "the other client got no answer until the slow one continued to read"
    assert other.got.ok, f"the other client got {other.got}"
    assert OTHER.answer == other.got.text
    told, whole = phases_of(other.got.progress), _phases(ROUNDS)
    if told != whole:
        raise NotReached(f"control: a client that reads at once got the events {plain(told)}, not {plain(whole)}")
    assert run.got.ok, f"the slow client got {run.got}"
    assert run.got.ended, f"the slow client got {run.got}"
    assert SLOW.answer == run.got.text
    assert _phases(3) == phases_of(run.got.progress)
    if all(_has_content(one) for one in other.got.progress if one.phase == "complete"):
        results = [one.data.get("content") for one in run.got.progress if one.phase == "complete"]
        assert [f"{n} {LARGE}" for n in range(3)] == results, "the slow client's events are not those of its run"
    else:
        raise NotReached("control: the events of a client that reads at once have no results of tools")


def _phases(rounds: int) -> list[tuple[int, str]]:
    """The progress of a client's rounds."""
    return [(n, phase) for n in range(rounds) for phase in ("calling", "complete")]


def _has_content(event: Progress) -> bool:
    return bool(event.data.get("content"))
