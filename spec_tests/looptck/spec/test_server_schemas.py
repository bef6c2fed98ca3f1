"""Server-side loops: whatever a server writes has the shape that documents give it; what it adds is its own matter."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from looptck.checks import on, requirement
from looptck.client import schemas
from looptck.guest import Guest
from looptck.kit import Scene
from looptck.provider.faults import HttpError
from looptck.run import Run
from looptck.spec.built_in import CHAT, Coder
from looptck.spec.served import DONE, PING, THREE_ROUNDS
from looptck.turns import Call, Turn, calls, turn
from looptck.verdicts import NotApplicable, NotReached


def at_once(provider: Scene, guest: Guest) -> Run:
    """An answer without a call."""
    provider.plays(DONE)
    return guest.ask()


def three_rounds(provider: Scene, guest: Guest) -> Run:
    """Three rounds, of which one fails, with text beside a call."""
    provider.raises("ping", "no data")
    provider.plays(turn("Let me check. ", PING), *THREE_ROUNDS[1:])
    return guest.ask()


def at_the_cap(provider: Scene, guest: Guest) -> Run:
    """A model that wants more rounds than it may have."""
    if not guest.can("rounds"):
        raise NotApplicable("the server does not declare `rounds`")
    provider.always(asks, most=4)
    return guest.ask(rounds=1)


def of_a_broken_model(provider: Scene, guest: Guest) -> Run:
    """A model that fails behind the first round."""
    provider.plays(calls(PING), HttpError(500))
    return guest.ask()


def with_files(provider: Scene, guest: Guest) -> Run:
    """A program that writes a text and a picture."""
    if not (guest.can("code") and guest.can("files")):
        raise NotApplicable("the server does not declare `code` and `files`")
    coder = Coder.of(guest)
    files = [("a.csv", b"1,2\n"), ("b.bin", bytes(range(256)))]
    provider.plays(calls(coder.writes(*files)), DONE)
    return coder.ask()


def asks(n: int) -> Turn:
    """A turn that asks for a tool, with arguments that are new every time."""
    return calls(Call.of("weather", {"city": f"city {n}"}))


Conversation = Callable[[Scene, Guest], Run]
CONVERSATIONS = [
    *(pytest.param(one, id=one.__name__) for one in (at_once, three_rounds, at_the_cap, of_a_broken_model)),
    pytest.param(with_files, id=with_files.__name__, marks=on(CHAT)),
]


@requirement("server-replies-fit-their-schemas")
@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_plain_replies(provider: Scene, guest: Guest, conversation: Conversation) -> None:
    """The body of a reply, or of an error, fits its schema."""
    reply = conversation(provider, guest).got

    if reply.broken:
        raise NotReached(f"there is no whole reply: {reply}")
    assert [] == schemas.reply_faults(reply)


@requirement("server-events-fit-their-schemas")
@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_events(provider: Scene, guest: Guest, conversation: Conversation) -> None:
    """Each event of a stream fits the schema of its kind."""
    reply = conversation(provider, guest).got

    if not reply.events:
        raise NotReached(f"there is no event: {reply}")
    assert [] == schemas.stream_faults(reply)
