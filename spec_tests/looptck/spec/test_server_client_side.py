"""Server-side loops: the client-side path, where the server runs nothing and the client goes on itself."""

from __future__ import annotations

from looptck.checks import requirement
from looptck.client import schemas
from looptck.guest import Guest
from looptck.history import Answered, Asked, spelled
from looptck.kit import Scene
from looptck.run import Run
from looptck.spec.served import DONE, LODZ, PING, as_json
from looptck.turns import Call, calls
from looptck.verdicts import NotReached

BARE = "bare"
"""The set-up in which a request meets no entry condition."""
SUNNY = "It is sunny in Łódź."


@requirement("server-client-side-path-runs-no-loop")
def test_no_loop(provider: Scene, guest: Guest) -> None:
    """The model's call is the end of the reply: nothing runs, nothing is asked again, nothing is told of a loop."""
    provider.plays(calls(PING), DONE)

    run = guest.ask(setup=BARE)

    _handed_over(run)
    assert [] == run.tools_ran
    assert len(run.received) < 2
    told = run.got.progress if run.got.stream else run.got.records
    assert [] == [*told]


@requirement("server-client-side-calls-are-returned")
def test_calls_of_the_model(provider: Scene, guest: Guest) -> None:
    """Both calls of a turn come back in their order, each with an id of its own and its arguments."""
    provider.plays(calls(LODZ, PING), DONE)

    run = guest.ask(setup=BARE)

    returned = run.got.turn.calls
    assert [("weather", as_json(LODZ.arguments)), ("ping", {})] == [_said(call) for call in returned]
    assert 2 == len({call.id for call in returned if call.id}), f"the ids are {[call.id for call in returned]}"
    if run.got.stream and run.got.wire == "openai-chat":
        whole = any(len(_deltas(event.value)) == 2 for event in run.got.own)
        guest.implementation.diverges("client_side_stream", "whole-calls-in-the-last-chunk" if whole else "fragments")


@requirement("server-client-runs-the-next-round")
def test_next_round_of_the_client(provider: Scene, guest: Guest) -> None:
    """The client sends call and result back; the model is asked with both, and its answer comes."""
    question = "Please tell me the weather in Łódź."
    provider.plays(calls(LODZ))
    call = _handed_over(guest.ask(question, setup=BARE))
    asked = Asked(call.id or "", call.tool, call.arguments)
    provider.plays(DONE)

    run = guest.ask(question, setup=BARE, after=(asked, Answered(asked.id, SUNNY)))

    items = run.request(1).request.items
    assert [(asked.tool, spelled(asked.arguments))] == [
        (item.tool, spelled(item.arguments)) for item in items if isinstance(item, Asked)
    ]
    assert [SUNNY] == [item.text for item in items if isinstance(item, Answered)]
    assert run.got.ok, f"the request with the result got {run.got}"
    assert DONE.text == run.got.text


@requirement("server-client-side-path-is-standard")
def test_standard_flow(provider: Scene, guest: Guest) -> None:
    """Call and answer are replies of the wire, and the first of them stops for the call."""
    provider.plays(calls(LODZ))
    first = guest.ask(setup=BARE)
    provider.plays(DONE)
    second = guest.ask(setup=BARE)

    _handed_over(first)
    for run in (first, second):
        found = schemas.stream_faults(run.got) if run.got.stream else schemas.reply_faults(run.got)
        assert [] == found
    assert ["calls", "end"] == [run.got.turn.stopped for run in (first, second)]


def _handed_over(run: Run) -> Call:
    """The first call that the client got. Raises NotReached where it got none."""
    returned = run.got.turn.calls
    if not returned:
        raise NotReached(f"the reply hands no call over: {run.got}, and says {run.got.text!r}")
    return returned[0]


def _said(call: Call) -> tuple[str, object]:
    return call.tool, as_json(call.arguments or "{}")


def _deltas(value: object) -> list[object]:
    """The calls in a chunk."""
    choices = value.get("choices") or () if isinstance(value, dict) else ()
    return [call for choice in choices for call in (choice.get("delta") or {}).get("tool_calls") or ()]
