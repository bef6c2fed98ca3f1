"""Server-side loops: sessions are read, replaced, deleted and evicted."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from looptck.bench.checks import lengthy, requirement
from looptck.bench.client.export import exported
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.provider.faults import HttpError
from looptck.spec.server_loop.replies import json_of
from looptck.spec.server_loop.sessions import (
    DONE,
    PING,
    Line,
    comparable,
    export,
    fresh,
    one_round,
    path,
    stored_history,
)
from looptck.values.history import Said
from looptck.values.plain import Listed, plain
from looptck.values.turns import calls, says
from looptck.values.verdicts import NotReached

FIRST = "What does the first answer?"
NEXT = "And what comes next?"
SEEN = (Said("user", FIRST), Said("assistant", DONE))
MOST = 128
"""The number of sessions that a server keeps."""
BAD = {
    "no JSON": b'{"messages": [',
    "a list": b"[]",
    "no messages": b"{}",
    "a number for messages": b'{"messages": 7}',
    "numbers as messages": b'{"messages": [7, 8]}',
}


@requirement("server-failed-run-leaves-its-session")
@pytest.mark.parametrize("begun", [False, True], ids=["new", "begun"])
def test_failing_model(scenario: Scenario, server: ServerUnderTest, begun: bool) -> None:
    """If the model fails after a round, its session does not exist, or is as it was before the request."""
    session = fresh()
    if begun:
        one_round(scenario, server, FIRST, session)
    before = _kept(server, session)
    if begun != bool(before):
        raise NotReached(f"control: before the request that fails the session is {before}")
    scenario.plays(calls(PING), HttpError(500))

    run = server.ask(NEXT, session=session, before=SEEN if begun else ())

    run.replied(2)
    if run.got.error is None:
        raise NotReached(f"the failure of the model was not reported: the client got {run.got}")
    now = _kept(server, session)
    assert before == now, f"after a request that failed the session holds {now}, before it held {before}"


def _kept(server: ServerUnderTest, session: str) -> Sequence[Line] | None:
    """The history of a session; None if it does not exist."""
    with server.http() as client:
        got = client.get(path(session))
    return Listed(comparable(exported(json_of(got)))) if got.status_code == 200 else None


@requirement("server-missing-session-is-404")
def test_missing_session(scenario: Scenario, server: ServerUnderTest) -> None:
    """The export of an unused id is answered with 404, that of a used id is not."""
    session = fresh()
    scenario.plays(says(DONE))
    server.ask(FIRST, session=session)
    export(server, session)

    with server.http() as client:
        got = client.get(path(fresh()))

    assert 404 == got.status_code, f"the export was answered with {got.status_code}: {got.text[:200]}"


@requirement("server-import-replaces-the-session")
def test_import_on_another(scenario: Scenario, server: ServerUnderTest) -> None:
    """After the export of one session is imported into another, both have the same content."""
    one, other = fresh(), fresh()
    scenario.returns("ping", "pong of the first")
    one_round(scenario, server, FIRST, one)
    scenario.returns("ping", "pong of the other")
    one_round(scenario, server, "What does the other answer?", other)
    if stored_history(server, one) == stored_history(server, other):
        raise NotReached("control: the two sessions held the same before the import")

    with server.http() as client:
        imported = client.put(path(other), json=export(server, one))

    assert imported.is_success, f"the import was answered with {imported.status_code}: {imported.text[:200]}"
    assert stored_history(server, one) == stored_history(server, other)


@requirement("server-bad-session-is-refused")
@pytest.mark.parametrize("body", BAD.values(), ids=[name.replace(" ", "-") for name in BAD])
def test_bad_import(scenario: Scenario, server: ServerUnderTest, body: bytes) -> None:
    """An invalid import is answered with 400, and the session is unchanged."""
    session = fresh()
    one_round(scenario, server, FIRST, session)
    before = stored_history(server, session)
    with server.http() as client:
        good = client.put(path(session), json=export(server, session))
        if not good.is_success:
            raise NotReached(f"control: the session's own export was answered with {good.status_code}")

        bad = client.put(path(session), content=body, headers={"content-type": "application/json"})
        after = client.get(path(session))

    assert 400 == bad.status_code, (
        f"{body.decode()} was answered with {bad.status_code}, not with 400: {bad.text[:200]}"
    )
    assert 200 == after.status_code, (
        f"after that, the session was answered with {after.status_code}: {after.text[:200]}"
    )
    assert before == comparable(exported(json_of(after)))


@requirement("server-deleted-session-is-gone")
def test_deleted_twice(scenario: Scenario, server: ServerUnderTest) -> None:
    """A deleted session is not exported, and may be deleted again."""
    session = fresh()
    one_round(scenario, server, FIRST, session)
    stored_history(server, session)

    with server.http() as client:
        deleted = client.delete(path(session)).status_code
        after = client.get(path(session)).status_code
        again = client.delete(path(session)).status_code

    assert 200 == deleted, f"DELETE of a session is answered with {deleted}"
    assert 404 == after, f"the export of a deleted session is answered with {after}"
    assert 200 == again, f"DELETE of a deleted session is answered with {again}"


@lengthy
@requirement("server-sessions-are-bounded")
def test_one_more(scenario: Scenario, server: ServerUnderTest) -> None:
    """With one session more than the limit, the least recently used one is evicted, not the oldest.

    A request uses its session. Whether an export does is the server's choice.
    """
    session = fresh()
    one_round(scenario, server, FIRST, session)
    body = export(server, session)
    ids = [fresh() for _ in range(MOST + 1)]
    with server.http() as client:
        imported = [client.put(path(one), json=body).status_code for one in ids[:-1]]
        scenario.plays(says(DONE))
        used = server.ask(NEXT, before=SEEN, session=ids[0])
        first = client.get(path(ids[0]))
        second = client.get(path(ids[-2])).status_code
        imported.append(client.put(path(ids[-1]), json=body).status_code)
        if set(imported) != {200} or first.status_code != 200 or second != 200 or not used.got.ok:
            gets = f"exports {first.status_code} and {second}"
            raise NotReached(f"control: imports got {plain(sorted(set(imported)))}, {gets}, a request {used.got}")

        again = client.get(path(ids[0]))
        forgotten = client.get(path(ids[1])).status_code

    assert 200 == again.status_code, (
        f"the session that the last request used was evicted: its export is answered with {again.status_code}"
    )
    assert comparable(exported(json_of(first))) == comparable(exported(json_of(again)))
    assert 404 == forgotten, f"of {MOST + 1} sessions the least recently used one still exists"
