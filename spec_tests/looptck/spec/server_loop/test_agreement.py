"""Server-side loops: a stream and a plain reply to the same request have the same content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from looptck.bench.checks import requirement
from looptck.bench.client import Reply
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.provider.toolbox import Raises, Returns
from looptck.spec.server_loop.builtin_tools import Coder, origin
from looptck.spec.server_loop.replies import (
    DONE,
    ONE_ROUND,
    PARIS,
    PING,
    THREE_ROUNDS,
    as_json,
    events_of_phase,
    reply_after_rounds,
)
from looptck.values.history import Answered, Asked, Item
from looptck.values.plain import plain
from looptck.values.turns import Call, Turn, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

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
def test_same_conversation(scenario: Scenario, server: ServerUnderTest, turns: tuple[Turn, ...]) -> None:
    """One script leads to the same tool runs, model requests and answer in a plain and in a streamed request."""
    scenario.plays(*turns)

    _agree(*_both(server))


@requirement("server-plain-and-stream-agree")
@pytest.mark.parametrize(
    "behaviour", [Raises("no data"), Returns(""), Returns({"error": "x"})], ids=["fails", "nothing", "an-object"]
)
def test_same_result(scenario: Scenario, server: ServerUnderTest, behaviour: Raises | Returns) -> None:
    """Plain and streamed requests also agree if the tool fails, or returns nothing or an object."""
    scenario.does("ping", behaviour)
    scenario.plays(*ONE_ROUND)

    _agree(*_both(server))


@requirement("server-plain-and-stream-agree")
def test_same_cap(scenario: Scenario, server: ServerUnderTest) -> None:
    """Plain and streamed requests also agree if the model wants one round more than the cap allows."""
    if not server.can("rounds"):
        raise NotApplicable("the server does not declare `rounds`")
    scenario.always(lambda n: calls(Call.of("weather", {"city": f"city {n}"})), most=4)

    _agree(*_both(server, rounds=1), erring=True)


@requirement("server-plain-and-stream-record-alike")
def test_records_and_events(scenario: Scenario, server: ServerUnderTest) -> None:
    """Records and events report the same three rounds, one of which fails."""
    scenario.does("weather", Raises("no data"), Returns("5 °C"))
    scenario.plays(*THREE_ROUNDS)

    whole, streamed = (reply_after_rounds(run, 3) for run in _both(server))

    reported = [
        (event.round, event.tool, as_json(event.data.get("arguments")))
        for event in events_of_phase(streamed, "calling")
    ]
    recorded = [(one.get("round"), one.get("name"), as_json(one.get("arguments"))) for one in whole.records]
    assert reported == recorded, f"the events tell of {plain(reported)}, and the records of {plain(recorded)}"
    completed = len(events_of_phase(streamed, "complete"))
    assert len(recorded) == completed, f"there are {completed} complete events, and {len(recorded)} records"


@requirement("server-plain-and-stream-record-alike")
def test_files_of_records_and_events(scenario: Scenario, server: ServerUnderTest) -> None:
    """The reply, the records of two rounds and the events of a stream report the same files."""
    if not (server.can("code") and server.can("files")):
        raise NotApplicable("the server does not declare `code` and `files`")
    coder = Coder.of(server)
    first, second = (calls(coder.writes((f"{name}.txt", name.encode()))) for name in "ab")
    scenario.plays(first, calls(PING), second, DONE)

    streamed, plain = coder.ask(stream=True).got, coder.ask(stream=False).got

    if not (streamed.ok and plain.ok and streamed.files):
        raise NotReached(f"no file is reported: streamed {streamed}, plain {plain}")
    reported = [_origin(file) for file in streamed.files]
    assert reported == [_origin(file) for file in plain.files]
    named = {file.get("id"): file.get("name") for file in plain.files}
    listed = [
        (record.get("round"), record.get("name"), named.get(id, id))
        for record in plain.records
        for id in record.get("file_ids") or ()
    ]
    assert reported == listed


@requirement("server-text-beside-a-call-is-told-alike")
def test_text_beside_a_call(scenario: Scenario, server: ServerUnderTest) -> None:
    """Text that came with a call reaches the client of a plain reply only if that of a stream gets it too."""
    scenario.plays(calls(PING, text=BESIDE_A_CALL), DONE)

    plain, streamed = (reply_after_rounds(run, 1).turn.text or "" for run in _both(server))

    assert streamed in (plain, BESIDE_A_CALL + plain), f"plain the client gets {plain!r}, streamed {streamed!r}"
    server.implementation.diverges("text_before_a_call", _where(BESIDE_A_CALL in plain, BESIDE_A_CALL in streamed))


def _both(server: ServerUnderTest, rounds: int | None = None) -> tuple[Run, Run]:
    """The same request, plain and streamed."""
    question = f"Please go on with {server.implementation.check.case}."
    plain = server.ask(question, stream=False, rounds=rounds)
    return plain, server.ask(question, stream=True, rounds=rounds)


def _agree(one: Run, streamed: Run, *, erring: bool = False) -> None:
    """Compare a plain and a streamed run of one request; ``erring``: the request may be refused in the end."""
    if not (one.got.ok or (erring and one.ran)):
        raise NotReached(f"the plain request got {one.got}")
    ran = one.tools_ran, streamed.tools_ran
    assert ran[0] == ran[1], f"for a plain request {plain(ran[0])} ran, for a streamed one {plain(ran[1])}"
    _ask_alike(_questions(one), _questions(streamed))
    got = _answer(one.got), _answer(streamed.got)
    assert got[0] == got[1], f"a plain request got {_told(got[0])}, a streamed one {_told(got[1])}"


def _questions(run: Run) -> list[tuple[list[Item], list[str], Any]]:
    """Each model request: its messages, offered tools and tool_choice."""
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


def _ask_alike(one: list[tuple[list[Item], list[str], Any]], streamed: list[tuple[list[Item], list[str], Any]]) -> None:
    """Assert that the same was asked of the model, and say in which member of which request something else was."""
    for n, (asked, other) in enumerate(zip(one, streamed, strict=False), 1):
        for member, was, now in zip(("messages", "tools", "tool_choice"), asked, other, strict=True):
            assert was == now, (
                f"model request {n} of a plain request has the {member} {plain(was)}, and that of a streamed one "
                f"{plain(now)}"
            )
    assert len(one) == len(streamed), (
        f"a plain request leads to {len(one)} model requests, and a streamed one to {len(streamed)}"
    )


def _numbered(item: Item, ids: dict[str, str]) -> Item:
    """The item with a number instead of its id, because a server may draw new ids for every run."""
    if isinstance(item, Asked | Answered):
        return replace(item, id=ids.setdefault(item.id, f"call {len(ids) + 1}"))
    return item


def _answer(reply: Reply) -> tuple[str, list[Any], Any] | None:
    """The final answer to the client in wire-neutral form. None: it is an error."""
    if not reply.ok:
        return None
    turn = reply.turn
    return turn.text or "", [(call.tool, as_json(call.arguments)) for call in turn.calls], turn.stopped


def _told(answer: tuple[str, list[Any], Any] | None) -> str:
    """An answer in words."""
    if answer is None:
        return "an error"
    text, handed, stopped = answer
    return f"the text {plain(text)}, the calls {plain(handed)} and the stop reason {plain(stopped)}"


def _origin(file: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return *origin(file), file.get("name")


def _where(plain: bool, streamed: bool) -> str:
    """Whether the plain and the streamed request have shown a text to the client: a value of the dialect."""
    if plain != streamed:
        return "lost-when-plain-shown-when-streamed"
    return "shown" if plain else "lost"
