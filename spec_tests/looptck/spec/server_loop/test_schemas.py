"""Server-side loops: documented messages have the documented schema; messages that a server adds are its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from looptck.bench.checks import on, requirement
from looptck.bench.client import schemas
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.provider.faults import HttpError
from looptck.spec.server_loop.builtin_tools import CHAT, Coder
from looptck.spec.server_loop.replies import DONE, PING, THREE_ROUNDS
from looptck.values.turns import Call, Turn, calls, turn
from looptck.values.verdicts import NotApplicable, NotReached


def at_once(scenario: Scenario, server: ServerUnderTest) -> Run:
    """An answer without a call."""
    scenario.plays(DONE)
    return server.ask()


def three_rounds(scenario: Scenario, server: ServerUnderTest) -> Run:
    """Three rounds, one of which fails, with text before a call."""
    scenario.raises("ping", "no data")
    scenario.plays(turn("Let me check. ", PING), *THREE_ROUNDS[1:])
    return server.ask()


def at_the_cap(scenario: Scenario, server: ServerUnderTest) -> Run:
    """A model that wants more rounds than the cap allows."""
    if not server.can("rounds"):
        raise NotApplicable("the server does not declare `rounds`")
    scenario.always(asks, most=4)
    return server.ask(rounds=1)


def of_a_broken_model(scenario: Scenario, server: ServerUnderTest) -> Run:
    """A model that fails after the first round."""
    scenario.plays(calls(PING), HttpError(500))
    return server.ask()


def with_files(scenario: Scenario, server: ServerUnderTest) -> Run:
    """A program that writes a text and a picture."""
    if not (server.can("code") and server.can("files")):
        raise NotApplicable("the server does not declare `code` and `files`")
    coder = Coder.of(server)
    files = [("a.csv", b"1,2\n"), ("b.bin", bytes(range(256)))]
    scenario.plays(calls(coder.writes(*files)), DONE)
    return coder.ask()


def asks(n: int) -> Turn:
    """A turn with a call whose arguments are new every time."""
    return calls(Call.of("weather", {"city": f"city {n}"}))


Conversation = Callable[[Scenario, ServerUnderTest], Run]
CONVERSATIONS = [
    *(pytest.param(one, id=one.__name__) for one in (at_once, three_rounds, at_the_cap, of_a_broken_model)),
    pytest.param(with_files, id=with_files.__name__, marks=on(CHAT)),
]


@requirement("server-replies-fit-their-schemas")
@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_plain_replies(scenario: Scenario, server: ServerUnderTest, conversation: Conversation) -> None:
    """The body of a reply, or of an error, fits its schema."""
    reply = conversation(scenario, server).got

    if reply.broken:
        raise NotReached(f"the reply is incomplete: {reply}")
    found = schemas.reply_faults(reply)
    assert [] == found, f"the reply does not fit its schema: {schemas.in_words(found)}"


@requirement("server-events-fit-their-schemas")
@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_events(scenario: Scenario, server: ServerUnderTest, conversation: Conversation) -> None:
    """Each event of a stream fits the schema of its kind."""
    reply = conversation(scenario, server).got

    if not reply.events:
        raise NotReached(f"there is no event: {reply}")
    found = schemas.stream_faults(reply)
    assert [] == found, f"the stream does not fit its schemas: {schemas.in_words(found)}"
