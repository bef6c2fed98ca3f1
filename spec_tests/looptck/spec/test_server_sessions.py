"""Server-side loops: what a session keeps of a run, and what of it a later request brings back."""

from __future__ import annotations

from looptck.checks import requirement
from looptck.client.export import exported
from looptck.guest import PING as PING_TOOL
from looptck.guest import WEATHER as WEATHER_TOOL
from looptck.guest import Guest
from looptck.history import Said
from looptck.kit import Scene
from looptck.spec.server_sessions import (
    DONE,
    PING,
    asked_first,
    export,
    fresh,
    kept,
    one_round,
    path,
    told,
    unanswered,
)
from looptck.turns import Call, calls, says
from looptck.verdicts import NotReached

FIRST = "What does the first answer?"
NEXT = "And what comes next?"
ROUND = [("call of ping", "{}"), ("result of ping", "pong of this run")]
"""What a round of ping leaves in a history."""
SEEN = (Said("user", FIRST), Said("assistant", DONE))
"""What a client has seen of its first run."""


@requirement("server-session-keeps-the-tool-messages")
def test_two_rounds(provider: Scene, guest: Guest) -> None:
    """The export has the question, and each of two calls with its result."""
    session = fresh()
    provider.plays(calls(Call.of("weather", {"city": "Łódź"})), calls(PING), says(DONE))
    provider.returns("weather", "rain in Łódź")
    provider.returns("ping", "pong")

    run = guest.ask(FIRST, session=session)

    if len(run.tools_ran) != 2 or run.got.text != DONE:
        raise NotReached(f"control: two tools should run; {run.tools_ran} did: {run.got}")
    lines = kept(guest, session)
    assert [
        ("user", FIRST),
        ("call of weather", '{"city": "Łódź"}'),
        ("result of weather", "rain in Łódź"),
        ("call of ping", "{}"),
        ("result of ping", "pong"),
    ] == unanswered(lines)
    guest.implementation.diverges("final_answer_in_the_session", "stored" if lines[-1][1] == DONE else "not-stored")


@requirement("server-session-is-spliced-in")
def test_seen_messages_again(provider: Scene, guest: Guest) -> None:
    """The client resends what it has seen; the model is asked with the tool messages between them."""
    session = fresh()
    provider.returns("ping", "pong of this run")
    one_round(provider, guest, FIRST, session)
    provider.plays(says("Next."))
    other = guest.ask(NEXT, before=(Said("user", "Something else?"), Said("assistant", DONE)))
    if unanswered(asked_first(other)) != [("user", "Something else?"), ("user", NEXT)]:
        raise NotReached(f"control: a request of no session asked the model with {asked_first(other)}")

    run = guest.ask(NEXT, before=SEEN, session=session)

    assert [("user", FIRST), *ROUND, ("assistant", DONE), ("user", NEXT)] == asked_first(run)


@requirement("server-session-id-is-enough")
def test_one_new_message(provider: Scene, guest: Guest) -> None:
    """The client sends the id and one new message; the model is asked with the history before it, which stays."""
    session = fresh()
    provider.returns("ping", "pong of this run")
    one_round(provider, guest, FIRST, session)
    provider.plays(says("Next."))
    other = guest.ask(NEXT, session=fresh())
    if asked_first(other) != [("user", NEXT)]:
        raise NotReached(f"control: a request under a new id asked the model with {asked_first(other)}")

    run = guest.ask(NEXT, session=session)

    assert [("user", FIRST), *ROUND, ("user", NEXT)] == unanswered(asked_first(run))
    assert [("user", FIRST), *ROUND, ("user", NEXT)] == unanswered(kept(guest, session))


@requirement("server-session-id-is-returned")
def test_given_and_new(provider: Scene, guest: Guest) -> None:
    """The reply names the given session; where none was given it names a new one, which is there."""
    session = fresh()

    given = one_round(provider, guest, FIRST, session)
    new = one_round(provider, guest, NEXT, None)

    assert session == given.got.session
    assert new.got.session not in (None, "", session), f"without an id the session is {new.got.session!r}"
    assert ("user", NEXT) in kept(guest, new.got.session)


@requirement("server-unknown-session-id-starts-one")
def test_unknown_id(provider: Scene, guest: Guest) -> None:
    """There is no session of a fresh id; a request under it makes one."""
    session = fresh()
    with guest.http() as client:
        before = client.get(path(session)).status_code
    if before != 404:
        raise NotReached(f"control: the export of a fresh id was answered with {before}")

    one_round(provider, guest, FIRST, session)

    with guest.http() as client:
        after = client.get(path(session))
    assert 200 == after.status_code, f"the session of a run is answered with {after.status_code}: {after.text[:200]}"
    assert ("user", FIRST) in told(exported(after.json()))


@requirement("server-imported-session-goes-on")
def test_import_under_another_id(provider: Scene, guest: Guest) -> None:
    """An export is put under another id, where a request with the seen messages gets the tool messages back."""
    session, other = fresh(), fresh()
    provider.returns("ping", "pong of this run")
    one_round(provider, guest, FIRST, session)
    with guest.http() as client:
        imported = client.put(path(other), json=export(guest, session))
    provider.plays(says("Next."))

    run = guest.ask(NEXT, before=SEEN, session=other)

    assert imported.is_success, f"the import was answered with {imported.status_code}: {imported.text[:200]}"
    assert [("user", FIRST), *ROUND, ("assistant", DONE), ("user", NEXT)] == asked_first(run)


@requirement("server-edited-turn-keeps-what-came-before")
def test_edited_second_turn(provider: Scene, guest: Guest) -> None:
    """Both turns are resent, the second with other words: the first has its tool messages, the second has none."""
    session = fresh()
    provider.returns("ping", "pong of this run")
    one_round(provider, guest, FIRST, session)
    provider.returns("ping", "pong of the second turn")
    second = one_round(provider, guest, NEXT, session, before=SEEN)
    if ("result of ping", "pong of this run") not in asked_first(second):
        raise NotReached(f"control: the second turn was asked with {asked_first(second)}")
    provider.plays(says("Edited."))

    run = guest.ask("And what comes instead?", before=SEEN, session=session)

    assert [("user", FIRST), *ROUND, ("assistant", DONE), ("user", "And what comes instead?")] == asked_first(run)


@requirement("server-session-leaves-tools-and-sampling-out")
def test_tools_and_temperature(provider: Scene, guest: Guest) -> None:
    """A second request has another tool and no temperature: so has its question to the model."""
    session = fresh()
    first = one_round(provider, guest, FIRST, session, tools=(PING_TOOL,), members={"temperature": 0.25})
    if first.request(1).body.get("temperature") != 0.25:
        raise NotReached("control: the temperature of the first request did not reach the model")
    provider.plays(says("Next."))

    run = guest.ask(NEXT, before=SEEN, session=session, tools=(WEATHER_TOOL,))

    if ("call of ping", "{}") not in asked_first(run):
        raise NotReached(f"control: the session did not come back; the model was asked with {asked_first(run)}")
    offered = {tool.name for tool in run.request(1).request.tools}
    assert "weather" in offered
    assert "ping" not in offered, f"the tool of the first request is offered again: {sorted(offered)}"
    assert run.request(1).body.get("temperature") != 0.25, "the temperature of the first request came back"
