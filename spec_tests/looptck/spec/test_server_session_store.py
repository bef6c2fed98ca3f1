"""Server-side loops: sessions are read, replaced, deleted and bounded."""

from __future__ import annotations

import pytest

from looptck.checks import lengthy, requirement
from looptck.client.export import exported
from looptck.guest import Guest
from looptck.kit import Scene
from looptck.spec.server_sessions import DONE, export, fresh, kept, one_round, path, told
from looptck.turns import says
from looptck.verdicts import NotReached

FIRST = "What does the first answer?"
MOST = 128
"""The sessions that a server keeps."""
BAD = {
    "no JSON": b'{"messages": [',
    "a list": b"[]",
    "no messages": b"{}",
    "a number for messages": b'{"messages": 7}',
    "numbers as messages": b'{"messages": [7, 8]}',
}


@requirement("server-missing-session-is-404")
def test_missing_session(provider: Scene, guest: Guest) -> None:
    """The export of an id that nobody has used is answered with 404, that of another one is not."""
    session = fresh()
    provider.plays(says(DONE))
    guest.ask(FIRST, session=session)
    export(guest, session)

    with guest.http() as client:
        got = client.get(path(fresh()))

    assert 404 == got.status_code, f"answered with {got.status_code}: {got.text[:200]}"


@requirement("server-import-replaces-the-session")
def test_import_on_another(provider: Scene, guest: Guest) -> None:
    """The export of one session is put on another, which then holds the same."""
    one, other = fresh(), fresh()
    provider.returns("ping", "pong of the first")
    one_round(provider, guest, FIRST, one)
    provider.returns("ping", "pong of the other")
    one_round(provider, guest, "What does the other answer?", other)
    if kept(guest, one) == kept(guest, other):
        raise NotReached("control: the two sessions held the same before the import")

    with guest.http() as client:
        imported = client.put(path(other), json=export(guest, one))

    assert imported.is_success, f"the import was answered with {imported.status_code}: {imported.text[:200]}"
    assert kept(guest, one) == kept(guest, other)


@requirement("server-bad-session-is-refused")
@pytest.mark.parametrize("body", BAD.values(), ids=[name.replace(" ", "-") for name in BAD])
def test_bad_import(provider: Scene, guest: Guest, body: bytes) -> None:
    """What is no session is answered with 400, and the session is as it was."""
    session = fresh()
    one_round(provider, guest, FIRST, session)
    before = kept(guest, session)
    with guest.http() as client:
        good = client.put(path(session), json=export(guest, session))
        if not good.is_success:
            raise NotReached(f"control: the session's own export was answered with {good.status_code}")

        bad = client.put(path(session), content=body, headers={"content-type": "application/json"})
        after = client.get(path(session))

    assert 400 == bad.status_code, f"{body.decode()} was answered with {bad.status_code}: {bad.text[:200]}"
    assert 200 == after.status_code, f"then the session was answered with {after.status_code}: {after.text[:200]}"
    assert before == told(exported(after.json()))


@requirement("server-deleted-session-is-gone")
def test_deleted_twice(provider: Scene, guest: Guest) -> None:
    """A session that is deleted is not exported, and may be deleted again."""
    session = fresh()
    one_round(provider, guest, FIRST, session)
    kept(guest, session)

    with guest.http() as client:
        deleted = client.delete(path(session)).status_code
        after = client.get(path(session)).status_code
        again = client.delete(path(session)).status_code

    assert (200, 404, 200) == (deleted, after, again), f"DELETE, GET and DELETE got {deleted}, {after} and {again}"


@lengthy
@requirement("server-sessions-are-bounded")
def test_one_more(provider: Scene, guest: Guest) -> None:
    """Of one more than are kept the one that was used the longest ago is gone, and not the one that was made first."""
    session = fresh()
    one_round(provider, guest, FIRST, session)
    body = export(guest, session)
    ids = [fresh() for _ in range(MOST + 1)]
    with guest.http() as client:
        imported = [client.put(path(one), json=body).status_code for one in ids[:-1]]
        first = client.get(path(ids[0]))
        second = client.get(path(ids[-2])).status_code
        imported.append(client.put(path(ids[-1]), json=body).status_code)
        if set(imported) != {200} or first.status_code != 200 or second != 200:
            raise NotReached(f"control: imports got {set(imported)}, exports {first.status_code} and {second}")

        again = client.get(path(ids[0]))
        forgotten = client.get(path(ids[1])).status_code

    assert 200 == again.status_code, f"the session that was read last is answered with {again.status_code}"
    assert told(exported(first.json())) == told(exported(again.json()))
    assert 404 == forgotten, f"of {MOST + 1} sessions the one that was used the longest ago is still there"
