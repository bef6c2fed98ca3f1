"""Server-side loops: a stream and a plain reply to the same request tell the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from looptck.checks import requirement
from looptck.client import Reply
from looptck.guest import Guest
from looptck.history import Answered, Asked, Item
from looptck.kit import Scene
from looptck.provider.toolbox import Raises, Returns
from looptck.run import Run
from looptck.spec.built_in import Coder, origin
from looptck.spec.served import DONE, ONE_ROUND, PARIS, PING, THREE_ROUNDS, as_json, phase, served
from looptck.turns import Call, Turn, calls, says
from looptck.verdicts import NotApplicable, NotReached

BESIDE_A_CALL = "Let me check. "
LONG = "It is raining in Łódź — again. " * 100
CONVERSATIONS: Mapping[str, tuple[Turn, ...]] = {
    "at-once": (DONE,),
    "three-rounds": THREE_ROUNDS,
    "nothing-said": (calls(PING), says("")),
    "long-answer": (calls(PARIS), says(LONG)),
    "cut-answer": (calls(PARIS), says(LONG, stop="length")),
    "two-calls": (calls(PARIS, PING), DONE),
}


@requirement("server-plain-and-stream-agree")
@pytest.mark.parametrize("turns", CONVERSATIONS.values(), ids=CONVERSATIONS)
def test_same_conversation(provider: Scene, guest: Guest, turns: tuple[Turn, ...]) -> None:
    """Of one script, played to a plain request and to a streamed one, runs, questions and answer are the same."""
    provider.plays(*turns)

    _agree(*_both(guest))


@requirement("server-plain-and-stream-agree")
@pytest.mark.parametrize(
    "behaviour", [Raises("no data"), Returns(""), Returns({"error": "x"})], ids=["fails", "nothing", "an-object"]
)
def test_same_result(provider: Scene, guest: Guest, behaviour: Raises | Returns) -> None:
    """So they are where the tool fails, or returns nothing, or an object."""
    provider.does("ping", behaviour)
    provider.plays(*ONE_ROUND)

    _agree(*_both(guest))


@requirement("server-plain-and-stream-agree")
def test_same_cap(provider: Scene, guest: Guest) -> None:
    """So they are where the model wants one round more than the cap allows."""
    if not guest.can("rounds"):
        raise NotApplicable("the server does not declare `rounds`")
    provider.always(lambda n: calls(Call.of("weather", {"city": f"city {n}"})), most=4)

    _agree(*_both(guest, rounds=1), erring=True)


@requirement("server-plain-and-stream-record-alike")
def test_records_and_events(provider: Scene, guest: Guest) -> None:
    """Three rounds, of which one fails, are told by records as by events."""
    provider.does("weather", Raises("no data"), Returns("5 °C"))
    provider.plays(*THREE_ROUNDS)

    plain, streamed = (served(run, 3) for run in _both(guest))

    told = [(event.round, event.tool, as_json(event.data.get("arguments"))) for event in phase(streamed, "calling")]
    assert told == [(one.get("round"), one.get("name"), as_json(one.get("arguments"))) for one in plain.records]
    assert len(plain.records) == len(phase(streamed, "complete"))


@requirement("server-plain-and-stream-record-alike")
def test_files_of_records_and_events(provider: Scene, guest: Guest) -> None:
    """Files of two rounds are told by the reply, and by the records of their rounds, as by the events of a stream."""
    if not (guest.can("code") and guest.can("files")):
        raise NotApplicable("the server does not declare `code` and `files`")
    coder = Coder.of(guest)
    first, second = (calls(coder.writes((f"{name}.txt", name.encode()))) for name in "ab")
    provider.plays(first, calls(PING), second, DONE)

    streamed, plain = coder.ask(stream=True).got, coder.ask(stream=False).got

    if not (streamed.ok and plain.ok and streamed.files):
        raise NotReached(f"no file is told: streamed {streamed}, plain {plain}")
    told = [_origin(file) for file in streamed.files]
    assert told == [_origin(file) for file in plain.files]
    named = {file.get("id"): file.get("name") for file in plain.files}
    listed = [
        (record.get("round"), record.get("name"), named.get(id, id))
        for record in plain.records
        for id in record.get("file_ids") or ()
    ]
    assert told == listed


@requirement("server-text-beside-a-call-is-told-alike")
def test_text_beside_a_call(provider: Scene, guest: Guest) -> None:
    """What stood beside a call reaches the client in both, or in neither."""
    provider.plays(calls(PING, text=BESIDE_A_CALL), DONE)

    plain, streamed = (served(run, 1).turn.text or "" for run in _both(guest))

    guest.implementation.diverges("text_before_a_call", _where(BESIDE_A_CALL in plain, BESIDE_A_CALL in streamed))
    assert plain == streamed


def _both(guest: Guest, rounds: int | None = None) -> tuple[Run, Run]:
    """The same request, plain and streamed."""
    question = f"Please go on with {guest.implementation.check.case}."
    plain = guest.ask(question, stream=False, rounds=rounds)
    return plain, guest.ask(question, stream=True, rounds=rounds)


def _agree(plain: Run, streamed: Run, *, erring: bool = False) -> None:
    """Hold two runs of one request against each other; ``erring``: it may be refused in the end."""
    if not (plain.got.ok or (erring and plain.ran)):
        raise NotReached(f"the plain request got {plain.got}")
    assert plain.tools_ran == streamed.tools_ran
    assert _questions(plain) == _questions(streamed)
    assert _answer(plain.got) == _answer(streamed.got)


def _questions(run: Run) -> list[tuple[list[Item], list[str], Any]]:
    """Each question to the model: its messages, the tools that it offers, and its tool_choice."""
    ids: dict[str, str] = {}
    return [
        (
            [_numbered(item, ids) for item in received.request.items],
            [tool.name for tool in received.request.tools],
            received.body.get("tool_choice"),
        )
        for received in run.received
        if isinstance(received.body, dict)
    ]


def _numbered(item: Item, ids: dict[str, str]) -> Item:
    """The item under a number in place of its id, which a server may draw anew for every run."""
    if isinstance(item, Asked | Answered):
        return replace(item, id=ids.setdefault(item.id, f"call {len(ids) + 1}"))
    return item


def _answer(reply: Reply) -> object:
    """What the client got in the end, by the words of no wire."""
    if not reply.ok:
        return "an error"
    turn = reply.turn
    return turn.text or "", [(call.tool, as_json(call.arguments)) for call in turn.calls], turn.stopped


def _origin(file: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return *origin(file), file.get("name")


def _where(plain: bool, streamed: bool) -> str:
    """Where a text was shown, in the words of the dialect."""
    if plain != streamed:
        return "shown-when-plain-lost-when-streamed" if plain else "lost-when-plain-shown-when-streamed"
    return "shown" if plain else "lost"
