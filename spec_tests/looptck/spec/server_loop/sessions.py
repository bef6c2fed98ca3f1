"""Helpers for checks of sessions: unused ids, exports, and histories that can be compared."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

from looptck.bench.client.export import exported
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.spec.server_loop.replies import json_of
from looptck.values.history import Answered, Asked, Item, Said, spelled
from looptck.values.plain import Listed
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached

PING = Call.of("ping")
DONE = "That was all."

Line = tuple[str, str]


def fresh() -> str:
    """An id that no session has, even on a server that outlives the test session."""
    return f"looptck-{uuid.uuid4()}"


def path(session: str) -> str:
    """The path of a session for reading, writing and deleting."""
    return f"/v1/sessions/{session}"


def one_round(scenario: Scenario, server: ServerUnderTest, question: str, session: str | None, **how: Any) -> Run:
    """A run whose first turn calls ping and whose second turn is the answer.

    Raises:
        NotReached: the tool did not run, or the request got no answer.
    """
    scenario.plays(calls(PING), says(DONE))
    run = server.ask(question, session=session, **how)
    if [("ping", {})] != run.tools_ran or run.got.text != DONE:
        raise NotReached(f"control: a run with one call should run it and answer; {run.tools_ran} ran: {run.got}")
    return run


def export(server: ServerUnderTest, session: str) -> Any:
    """The body of a session's export.

    Raises:
        NotReached: the server does not export it.
    """
    with server.http() as client:
        got = client.get(path(session))
    if got.status_code != 200:
        raise NotReached(f"the export of session {session} was answered with {got.status_code}: {got.text[:300]}")
    return json_of(got)


def stored_history(server: ServerUnderTest, session: str) -> list[Line]:
    """The stored history of a session, in comparable form."""
    return comparable(exported(export(server, session)))


def comparable(items: Iterable[Item]) -> list[Line]:
    """A history in comparable form: roles, texts, calls and results, without the ids, which the server chooses.

    Instructions are left out, because a server may add its own.
    """
    lines: list[Line] = []
    names: dict[str, str] = {}
    for item in items:
        match item:
            case Said(role, text) if role not in {"system", "developer"}:
                lines.append((role, text))
            case Asked(id, tool, arguments):
                names[id] = tool
                lines.append((f"call of {tool}", spelled(arguments)))
            case Answered(id, text):
                lines.append((f"result of {names.get(id, 'no call')}", text))
    return lines


def unanswered(lines: Iterable[Line]) -> list[Line]:
    """The lines without the final answer, which a server may or may not store."""
    return [line for line in lines if line[0] != "assistant"]


def asked_first(run: Run) -> list[Line]:
    """The history of the first model request."""
    return Listed(comparable(run.request(1).request.items))
