"""Server-side loops: clients that leave or read slowly, and tools that hang, are nobody else's business."""

from __future__ import annotations

from typing import Any

from looptck.checks import lengthy, requirement
from looptck.client.export import exported
from looptck.guest import Guest
from looptck.history import Answered, Asked, Item
from looptck.kit import Running, Scene
from looptck.provider.gates import Gate, tool_began
from looptck.provider.toolbox import Behaviour, Returns
from looptck.run import Run
from looptck.spec.server_clients import Client
from looptck.spec.server_sessions import fresh, path
from looptck.turns import Call, calls, says
from looptck.verdicts import NotReached

ROUNDS = 10
LEAVER, STAYER = Client("leaver"), Client("stayer")
HANGING, OTHER, SLOW = Client("hanging"), Client("other"), Client("slow")
LARGE = "0123456789abcdef" * 62_500
"""One million characters. Three rounds with arguments and results of this size are more than lies in buffers between a
server and a client that does not read."""


def _does(provider: Scene, client: Client, *behaviours: Behaviour) -> None:
    """Let the tool of one client behave so; a call of any other client's is that client's alone."""
    provider.behaviours = {client.tool.name: behaviours}


def _ask(provider: Scene, guest: Guest, client: Client, rounds: int, **how: Any) -> Running:
    provider.plays(*client.turns(rounds))
    _does(provider, client, *client.results(rounds))
    return guest.begin(client.question, tools=(client.tool,), **how)


def _served(provider: Scene, guest: Guest, client: Client, rounds: int, **how: Any) -> Run:
    """The whole run of a client whom nothing is in the way of.

    Raises:
        NotReached: it does not get its answer, or its tools are not run.
    """
    run = guest.end(_ask(provider, guest, client, rounds, **how))
    if run.got.text != client.answer or len(run.ran) != rounds:
        raise NotReached(
            f"control: {client.name} should get an answer after {rounds} rounds: {len(run.ran)}, {run.got}"
        )
    return run


def _left(provider: Scene, guest: Guest, **how: Any) -> Run:
    """The run of a client who leaves at its second call, while that is held; then another has ten rounds.

    Raises:
        NotReached: the second call was never made, or the other client was not served.
    """
    held, let_go = tool_began(LEAVER.tool.name, 2), Gate("the client has left")
    patience = guest.implementation.kit.patience.gate

    def leaves(event: Any) -> bool:
        return event.name == "agentic_tool_call_progress" and event.value.get("round") == 1 and held.wait_here(patience)

    provider.plays(*LEAVER.turns(ROUNDS))
    _does(provider, LEAVER, Returns("first"), Returns("second", hold=let_go), Returns("later"))
    provider.watching = (held,)
    gone = guest.begin(LEAVER.question, tools=(LEAVER.tool,), on_event=leaves, **how)
    provider.watching = ()
    gone.future.result(guest.implementation.kit.patience.outcome)
    let_go.open()
    try:
        _served(provider, guest, STAYER, ROUNDS)
    finally:
        run = guest.end(gone)
    if not run.got.left or run.gave_up:
        raise NotReached(f"the client did not leave at its second call, which was to be held: {run.got}")
    return run


@requirement("server-client-gone-stops-the-run")
def test_client_leaves(provider: Scene, guest: Guest) -> None:
    """Of a client who left during its second call no third is run while one who stays gets all ten."""
    run = _left(provider, guest)

    assert 2 == len(run.ran), f"{len(run.ran)} tools were run for a client who had left during the second"


@requirement("server-client-gone-leaves-the-session-whole")
def test_session_of_a_leaver(provider: Scene, guest: Guest) -> None:
    """The session that it had before is as it was, or has each call with its result; so has one that it began."""
    old, new = fresh(), fresh()
    _served(provider, guest, LEAVER, 1, session=old)
    before = _kept(guest, old)
    if not any(isinstance(item, Asked) for item in before or ()):
        raise NotReached(f"control: after a whole run the session holds {before}")

    for session, was in ((old, before), (new, None)):
        _left(provider, guest, session=session)

        now = _kept(guest, session)
        told = "as-before" if now == was else "with-the-run"
        guest.implementation.diverges("session_of_a_client_that_left", told)
        assert now == was or (now is not None and _is_whole(now)), f"the session holds a call alone: {now}"


def _kept(guest: Guest, session: str) -> list[Item] | None:
    with guest.http() as client:
        got = client.get(path(session))
    return exported(got.json()) if got.status_code == 200 else None


def _is_whole(items: list[Item]) -> bool:
    """Whether each call has its result."""
    asked = [item.id for item in items if isinstance(item, Asked)]
    answered = [item.id for item in items if isinstance(item, Answered)]
    return asked == answered


@requirement("server-hanging-dispatch-holds-up-nobody")
def test_others_are_served(provider: Scene, guest: Guest) -> None:
    """While the call of one client is held another is served; then the first gets its answer too."""
    held, let_go = tool_began(HANGING.tool.name), Gate("the other client has its answer")
    provider.plays(*HANGING.turns(1))
    _does(provider, HANGING, Returns("at last", hold=let_go))
    provider.watching = (held,)
    hanging = guest.begin(HANGING.question, tools=(HANGING.tool,))
    provider.watching = ()
    if not held.wait_here(guest.implementation.kit.patience.gate):
        guest.end(hanging).request(2)
        raise NotReached("the call that was to be held was never made")

    other = guest.end(_ask(provider, guest, OTHER, 1))
    let_go.open()
    run = guest.end(hanging)

    assert [] == run.gave_up, "the other client had no answer until the call was given up"
    assert other.got.ok, f"the other client got {other.got}"
    assert OTHER.answer == other.got.text
    assert run.got.ok, f"the first client got {run.got}"
    assert HANGING.answer == run.got.text


@lengthy
@requirement("server-hanging-dispatch-ends")
def test_no_answer(provider: Scene, guest: Guest) -> None:
    """The endpoint never answers: the server gives the call up, and the model is told."""
    _served(provider, guest, OTHER, 1, setup="timeout")
    never = Gate("the endpoint answers")
    provider.plays(*HANGING.turns(1))
    _does(provider, HANGING, Returns("too late", hold=never))

    run = guest.ask(HANGING.question, tools=(HANGING.tool,), setup="timeout")

    if not run.ran:
        raise NotReached("the call that was to hang was never made")
    assert [] == run.gave_up, "the server waited for the endpoint until that let go by itself"
    assert run.got.ok, f"the client got {run.got}"
    assert HANGING.answer == run.got.text
    assert 1 == len(run.ran)
    if guest.can("upstream"):
        results = [answer.text for answer in run.answers(1)]
        assert 1 == len(results)
        assert results[0].strip(), "the model is told nothing of a call that never ended"


@lengthy
@requirement("server-slow-readers-lose-nothing")
def test_slow_reader(provider: Scene, guest: Guest) -> None:
    """A client stops after the first event; another has ten rounds meanwhile; then the first gets all its events."""
    patience = guest.implementation.kit.patience.gate
    began, go_on = tool_began(SLOW.tool.name), Gate("the other client has its answer")
    waited: list[bool] = []

    def slowly(event: Any) -> None:
        if not waited:
            waited.append(go_on.wait_here(patience))

    provider.plays(*(calls(Call.of(SLOW.tool.name, {"text": f"{n} {LARGE}"})) for n in range(3)), says(SLOW.answer))
    _does(provider, SLOW, *(Returns(f"{n} {LARGE}") for n in range(3)))
    provider.watching = (began,)
    slow = guest.begin(SLOW.question, tools=(SLOW.tool,), on_event=slowly)
    provider.watching = ()
    if not began.wait_here(patience):
        raise NotReached(f"the first call of the slow client was never made: {guest.end(slow).got}")

    other = guest.end(_ask(provider, guest, OTHER, ROUNDS))
    go_on.open()
    run = guest.end(slow)

    assert [True] == waited, "the other client had no answer until the slow one read on"
    assert other.got.ok, f"the other client got {other.got}"
    assert OTHER.answer == other.got.text
    assert run.got.ok, f"the slow client got {run.got}"
    assert run.got.ended, f"the slow client got {run.got}"
    assert SLOW.answer == run.got.text
    phases = [(n, phase) for n in range(3) for phase in ("calling", "complete")]
    assert phases == [(one.round, one.phase) for one in run.got.progress]
    results = [one.data.get("content") for one in run.got.progress if one.phase == "complete"]
    assert [f"{n} {LARGE}" for n in range(3)] == results, "the slow client's events are not those of its run"
