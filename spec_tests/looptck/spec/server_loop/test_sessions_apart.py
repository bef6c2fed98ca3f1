"""Server-side loops: sessions do not leak into each other, and repeated requests do not corrupt them."""

from __future__ import annotations

from collections import Counter

from looptck.bench.checks import requirement
from looptck.bench.client.export import exported
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.spec.server_loop.sessions import DONE, asked_first, export, fresh, one_round
from looptck.values.history import Answered, Asked, Item, Said
from looptck.values.plain import plain
from looptck.values.turns import says
from looptck.values.verdicts import NotReached

OPENING = "How do we all begin?"
SEEN = (Said("user", OPENING), Said("assistant", DONE))
SECRETS = ("secret-of-the-first", "secret-of-the-second")


def _raw(run: Run) -> str:
    return run.request(1).raw.decode(errors="replace")


@requirement("server-session-stays-with-its-id")
def test_two_ids(scenario: Scenario, server: ServerUnderTest) -> None:
    """Two sessions begin with the same words; each continues with its own tool result, and exports only that."""
    sessions = fresh(), fresh()
    for session, secret in zip(sessions, SECRETS, strict=True):
        scenario.returns("ping", secret)
        one_round(scenario, server, OPENING, session)
    scenario.plays(says("Next."))

    runs = [server.ask("Go on.", before=SEEN, session=session) for session in sessions]

    for run, session, own, others in zip(runs, sessions, SECRETS, reversed(SECRETS), strict=True):
        assert others not in _raw(run), f"the model request of one session holds {others!r}, which belongs to the other"
        assert others not in str(export(server, session)), (
            f"the export of one session holds {others!r}, which belongs to the other"
        )
        if ("result of ping", own) not in asked_first(run):
            raise NotReached(f"control: the session was not restored; the model was asked with {asked_first(run)}")


@requirement("server-same-opening-shares-nothing")
def test_no_id(scenario: Scenario, server: ServerUnderTest) -> None:
    """A client without an id resends the start of another client's session, and gets nothing of that session."""
    session = fresh()
    scenario.returns("ping", SECRETS[0])
    one_round(scenario, server, OPENING, session)
    scenario.plays(says("Next."))
    same = server.ask("Go on.", before=SEEN, session=session)
    if SECRETS[0] not in _raw(same):
        raise NotReached(f"control: the session was not restored; the model was asked with {asked_first(same)}")

    run = server.ask("Go on, somebody else.", before=SEEN)

    server.implementation.diverges("session_without_an_id", "found-by-content" if SECRETS[0] in _raw(run) else "new")
    assert SECRETS[0] not in _raw(run), "a request without an id asks the model with the tool result of another client"
    assert session != run.got.session, "a request without an id was given the session of another client"


@requirement("server-same-opening-shares-nothing")
def test_no_id_at_all(scenario: Scenario, server: ServerUnderTest) -> None:
    """Neither client names a session, and both begin with the same words."""
    scenario.returns("ping", SECRETS[0])
    first = one_round(scenario, server, OPENING, None)
    scenario.plays(says("Next."))

    run = server.ask("Go on, somebody else.", before=SEEN)

    assert SECRETS[0] not in _raw(run), "a request without an id asks the model with the tool result of another client"
    if first.got.session is not None:
        assert first.got.session != run.got.session, "a request without an id was given the session of another client"


@requirement("server-retry-does-not-forge-history")
def test_same_request_again(scenario: Scenario, server: ServerUnderTest) -> None:
    """A request is repeated; neither the model nor an export gets a call or result twice, or one without the other."""
    session = fresh()
    scenario.returns("ping", "pong of the first", "pong of the second")
    one_round(scenario, server, OPENING, session)
    before = exported(export(server, session))
    if _rounds(before) != {("ping", "pong of the first"): 1}:
        raise NotReached(f"control: the session holds {plain(_rounds(before))} after the first request")
    scenario.plays(says("Once more."))

    run = server.ask(OPENING, session=session)

    replayed = bool(run.request(1).request.asked)
    server.implementation.diverges("retry_under_an_id", "stored-results-are-replayed" if replayed else "runs-again")
    for where, items in (
        ("the question to the model", list(run.request(1).request.items)),
        ("the export", exported(export(server, session))),
    ):
        assert _rounds(items) in ({}, _rounds(before)), f"{where} holds {_rounds(items)}"


def _rounds(items: list[Item]) -> dict[tuple[str, str], int]:
    """How often each call appears with each result; a missing counterpart is empty."""
    found: Counter[tuple[str, str]] = Counter()
    for at, item in enumerate(items):
        following = items[at + 1 :]
        if isinstance(item, Asked):
            results = [one.text for one in following if isinstance(one, Answered) and one.id == item.id]
            found.update((item.tool, text) for text in results or [""])
        elif isinstance(item, Answered) and not any(isinstance(one, Asked) and one.id == item.id for one in items[:at]):
            found["", item.text] += 1
    return dict(found)
