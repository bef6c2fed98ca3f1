"""Server-side loops: what a session stores of a run, and what a later request gets of it."""

from __future__ import annotations

from looptck.bench.checks import requirement
from looptck.bench.client.export import exported
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import PING as PING_TOOL
from looptck.bench.server import WEATHER as WEATHER_TOOL
from looptck.bench.server import ServerUnderTest
from looptck.spec.server_loop.replies import json_of
from looptck.spec.server_loop.sessions import (
    DONE,
    PING,
    asked_first,
    comparable,
    export,
    fresh,
    one_round,
    path,
    stored_history,
    unanswered,
)
from looptck.values.history import Said
from looptck.values.plain import plain, times
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

FIRST = "What does the first answer?"
NEXT = "And what comes next?"
ROUND = [("call of ping", "{}"), ("result of ping", "pong of this run")]
"""The part of a history that one round of ping adds."""
SEEN = (Said("user", FIRST), Said("assistant", DONE))
"""The part of the first run that its client has seen."""


@requirement("server-session-keeps-the-tool-messages")
def test_two_rounds(scenario: Scenario, server: ServerUnderTest) -> None:
    """The export has the question, and each of two calls with its result."""
    session = fresh()
    scenario.plays(calls(Call.of("weather", {"city": "Łódź"})), calls(PING), says(DONE))
    scenario.returns("weather", "rain in Łódź")
    scenario.returns("ping", "pong")

    run = server.ask(FIRST, session=session)

    if len(run.tools_ran) != 2 or run.got.text != DONE:
        raise NotReached(f"control: two tools should run; {run.tools_ran} did: {run.got}")
    lines = stored_history(server, session)
    assert [
        ("user", FIRST),
        ("call of weather", '{"city": "Łódź"}'),
        ("result of weather", "rain in Łódź"),
        ("call of ping", "{}"),
        ("result of ping", "pong"),
    ] == unanswered(lines)
    server.implementation.diverges("final_answer_in_the_session", "stored" if lines[-1][1] == DONE else "not-stored")


@requirement("server-session-is-spliced-in")
def test_seen_messages_again(scenario: Scenario, server: ServerUnderTest) -> None:
    """The client resends the messages it has seen; the model also gets the tool messages between them."""
    session = fresh()
    scenario.returns("ping", "pong of this run")
    one_round(scenario, server, FIRST, session)
    scenario.plays(says("Next."))
    other = server.ask(NEXT, before=(Said("user", "Something else?"), Said("assistant", DONE)))
    if unanswered(asked_first(other)) != [("user", "Something else?"), ("user", NEXT)]:
        raise NotReached(f"control: a request without a session asked the model with {asked_first(other)}")

    run = server.ask(NEXT, before=SEEN, session=session)

    _has_its_session(run, session)
    assert [("user", FIRST), *ROUND, ("assistant", DONE), ("user", NEXT)] == asked_first(run)


def _has_its_session(run: Run, session: str) -> None:
    """Assert that the request was part of its session, and that the model got the session's call and result."""
    lines = asked_first(run)
    if ROUND[1] in lines:
        return
    named = run.got.session
    assert named in (None, session), (
        f"the request has the session_id {session}, and its reply names the session {named}"
    )
    raise AssertionError(f"the model gets nothing of the session's call and result; it was asked with {plain(lines)}")


@requirement("server-session-is-spliced-in")
def test_instructions_again(scenario: Scenario, server: ServerUnderTest) -> None:
    """The client sends its instructions with each request of the session; the model gets them once."""
    session, rules = fresh(), Said("system", "Do as the okapi does.")
    one_round(scenario, server, FIRST, session, before=(rules,))
    scenario.plays(says("Next."))

    run = server.ask(NEXT, before=(rules, *SEEN), session=session)

    count = run.request(1).raw.decode(errors="replace").count(rules.text)
    assert 1 == count, f"the model gets the instructions of the client {times(count)}"


@requirement("server-session-id-is-enough")
def test_one_new_message(scenario: Scenario, server: ServerUnderTest) -> None:
    """The client sends the id and one new message; the model gets the stored history, which stays stored."""
    session = fresh()
    scenario.returns("ping", "pong of this run")
    one_round(scenario, server, FIRST, session)
    scenario.plays(says("Next."))
    other = server.ask(NEXT, session=fresh())
    if asked_first(other) != [("user", NEXT)]:
        raise NotReached(f"control: a request under a new id asked the model with {asked_first(other)}")

    run = server.ask(NEXT, session=session)

    if asked_first(run) == [("user", NEXT)] and _restores_what_is_repeated(scenario, server):
        server.implementation.diverges("session_splice", "needs-visible-history")
        raise NotApplicable("a session is restored for requests that repeat its messages, as in later versions")
    _has_its_session(run, session)
    assert [("user", FIRST), *ROUND, ("user", NEXT)] == unanswered(asked_first(run))
    assert [("user", FIRST), *ROUND, ("user", NEXT)] == unanswered(stored_history(server, session))


def _restores_what_is_repeated(scenario: Scenario, server: ServerUnderTest) -> bool:
    """Whether the tool messages of a session return to a request that repeats the messages that the client saw."""
    session = fresh()
    one_round(scenario, server, FIRST, session)
    scenario.plays(says("Next."))
    again = asked_first(server.ask(NEXT, before=SEEN, session=session))
    return [*again] == [("user", FIRST), *ROUND, ("assistant", DONE), ("user", NEXT)]


@requirement("server-session-id-is-returned")
def test_given_and_new(scenario: Scenario, server: ServerUnderTest) -> None:
    """The reply names the given session; without an id it names a new session, which exists."""
    session = fresh()

    given = one_round(scenario, server, FIRST, session)
    new = one_round(scenario, server, NEXT, None)

    named = given.got.session
    assert session == named, f"the request has the session_id {session}, and its reply names the session {named}"
    assert new.got.session not in (None, "", session), (
        f"without an id in the request, the session is {new.got.session!r}"
    )
    assert ("user", NEXT) in stored_history(server, new.got.session)


@requirement("server-unknown-session-id-starts-one")
def test_unknown_id(scenario: Scenario, server: ServerUnderTest) -> None:
    """An unused id has no session; a request with this id creates one."""
    session = fresh()
    with server.http() as client:
        before = client.get(path(session)).status_code
    if before != 404:
        raise NotReached(f"control: the export of a fresh id was answered with {before}")

    one_round(scenario, server, FIRST, session)

    with server.http() as client:
        after = client.get(path(session))
    assert 200 == after.status_code, f"the session of a run is answered with {after.status_code}: {after.text[:200]}"
    assert ("user", FIRST) in comparable(exported(json_of(after)))


@requirement("server-imported-session-goes-on")
def test_import_under_another_id(scenario: Scenario, server: ServerUnderTest) -> None:
    """After an import under another id, a request with the seen messages gets the tool messages."""
    session, other = fresh(), fresh()
    scenario.returns("ping", "pong of this run")
    one_round(scenario, server, FIRST, session)
    with server.http() as client:
        imported = client.put(path(other), json=export(server, session))
    scenario.plays(says("Next."))

    run = server.ask(NEXT, before=SEEN, session=other)

    assert imported.is_success, f"the import was answered with {imported.status_code}: {imported.text[:200]}"
    _has_its_session(run, other)
    assert [("user", FIRST), *ROUND, ("assistant", DONE), ("user", NEXT)] == asked_first(run)


@requirement("server-edited-turn-keeps-what-came-before")
def test_edited_second_turn(scenario: Scenario, server: ServerUnderTest) -> None:
    """Both turns are resent, the second one edited: the first gets its tool messages, the second none."""
    session = fresh()
    scenario.returns("ping", "pong of this run")
    one_round(scenario, server, FIRST, session)
    scenario.returns("ping", "pong of the second turn")
    second = one_round(scenario, server, NEXT, session, before=SEEN)
    if ("result of ping", "pong of this run") not in asked_first(second):
        raise NotReached(f"control: the second turn was asked with {asked_first(second)}")
    scenario.plays(says("Edited."))

    run = server.ask("And what comes instead?", before=SEEN, session=session)

    assert [("user", FIRST), *ROUND, ("assistant", DONE), ("user", "And what comes instead?")] == asked_first(run)


@requirement("server-session-leaves-tools-and-sampling-out")
def test_tools_and_temperature(scenario: Scenario, server: ServerUnderTest) -> None:
    """The second request has another tool and no temperature, and so does its model request."""
    session = fresh()
    first = one_round(scenario, server, FIRST, session, tools=(PING_TOOL,), members={"temperature": 0.25})
    if first.request(1).body.get("temperature") != 0.25:
        raise NotReached("control: the temperature of the first request did not reach the model")
    scenario.plays(says("Next."))

    run = server.ask(NEXT, before=SEEN, session=session, tools=(WEATHER_TOOL,))

    if ("call of ping", "{}") not in asked_first(run):
        raise NotReached(f"control: the session was not restored; the model was asked with {asked_first(run)}")
    offered = {tool.name for tool in run.request(1).request.tools}
    assert "weather" in offered
    assert "ping" not in offered, f"the tool of the first request is offered again: {plain(sorted(offered))}"
    assert run.request(1).body.get("temperature") != 0.25, "the temperature of the first request was used again"
