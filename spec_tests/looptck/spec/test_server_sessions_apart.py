"""Server-side loops: nothing of one session reaches another, and a request that comes twice forges nothing."""

from __future__ import annotations

from collections import Counter

from looptck.checks import requirement
from looptck.client.export import exported
from looptck.guest import Guest
from looptck.history import Answered, Asked, Item, Said
from looptck.kit import Scene
from looptck.plain import plain
from looptck.run import Run
from looptck.spec.server_sessions import DONE, asked_first, export, fresh, one_round
from looptck.turns import says
from looptck.verdicts import NotReached

OPENING = "How do we all begin?"
SEEN = (Said("user", OPENING), Said("assistant", DONE))
SECRETS = ("secret-of-the-first", "secret-of-the-second")


def _raw(run: Run) -> str:
    return run.request(1).raw.decode(errors="replace")


@requirement("server-session-stays-with-its-id")
def test_two_ids(provider: Scene, guest: Guest) -> None:
    """Two sessions begin with the same words; each goes on with its own tool result, and its export has that alone."""
    sessions = fresh(), fresh()
    for session, secret in zip(sessions, SECRETS, strict=True):
        provider.returns("ping", secret)
        one_round(provider, guest, OPENING, session)
    provider.plays(says("Next."))

    runs = [guest.ask("Go on.", before=SEEN, session=session) for session in sessions]

    for run, session, own, others in zip(runs, sessions, SECRETS, reversed(SECRETS), strict=True):
        assert others not in _raw(run), f"the question of one session holds {others!r}, which is the other's"
        assert others not in str(export(guest, session)), f"the export of one session holds {others!r}"
        if ("result of ping", own) not in asked_first(run):
            raise NotReached(f"control: the session did not come back; the model was asked with {asked_first(run)}")


@requirement("server-same-opening-shares-nothing")
def test_no_id(provider: Scene, guest: Guest) -> None:
    """A client without an id resends what another client's session begins with, and is given nothing of that."""
    session = fresh()
    provider.returns("ping", SECRETS[0])
    one_round(provider, guest, OPENING, session)
    provider.plays(says("Next."))
    same = guest.ask("Go on.", before=SEEN, session=session)
    if SECRETS[0] not in _raw(same):
        raise NotReached(f"control: the session did not come back; the model was asked with {asked_first(same)}")

    run = guest.ask("Go on, somebody else.", before=SEEN)

    guest.implementation.diverges("session_without_an_id", "found-by-content" if SECRETS[0] in _raw(run) else "new")
    assert SECRETS[0] not in _raw(run), "a request without an id asks the model with the tool result of another client"
    assert session != run.got.session, "a request without an id was given the session of another client"


@requirement("server-same-opening-shares-nothing")
def test_no_id_at_all(provider: Scene, guest: Guest) -> None:
    """Neither client names a session, and both begin with the same words."""
    provider.returns("ping", SECRETS[0])
    first = one_round(provider, guest, OPENING, None)
    provider.plays(says("Next."))

    run = guest.ask("Go on, somebody else.", before=SEEN)

    assert SECRETS[0] not in _raw(run), "a request without an id asks the model with the tool result of another client"
    if first.got.session is not None:
        assert first.got.session != run.got.session, "a request without an id was given the session of another client"


@requirement("server-retry-does-not-forge-history")
def test_same_request_again(provider: Scene, guest: Guest) -> None:
    """The request comes again; neither the model nor an export sees a call or result twice, or one alone."""
    session = fresh()
    provider.returns("ping", "pong of the first", "pong of the second")
    one_round(provider, guest, OPENING, session)
    before = exported(export(guest, session))
    if _rounds(before) != {("ping", "pong of the first"): 1}:
        raise NotReached(f"control: the session holds {plain(_rounds(before))} after the first request")
    provider.plays(says("Once more."))

    run = guest.ask(OPENING, session=session)

    replayed = bool(run.request(1).request.asked)
    guest.implementation.diverges("retry_under_an_id", "stored-results-are-replayed" if replayed else "runs-again")
    for where, items in (
        ("the question to the model", list(run.request(1).request.items)),
        ("the export", exported(export(guest, session))),
    ):
        assert _rounds(items) in ({}, _rounds(before)), f"{where} holds {_rounds(items)}"


def _rounds(items: list[Item]) -> dict[tuple[str, str], int]:
    """How often each call stands with each result; what lacks the other has a blank in its place."""
    found: Counter[tuple[str, str]] = Counter()
    for at, item in enumerate(items):
        behind = items[at + 1 :]
        if isinstance(item, Asked):
            results = [one.text for one in behind if isinstance(one, Answered) and one.id == item.id]
            found.update((item.tool, text) for text in results or [""])
        elif isinstance(item, Answered) and not any(isinstance(one, Asked) and one.id == item.id for one in items[:at]):
            found["", item.text] += 1
    return dict(found)
