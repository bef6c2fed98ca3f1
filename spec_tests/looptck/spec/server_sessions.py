"""What the checks of sessions share: ids that nobody has had, exports, and histories that can be compared."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

from looptck.client.export import exported
from looptck.guest import Guest
from looptck.history import Answered, Asked, Item, Said, spelled
from looptck.kit import Scene
from looptck.plain import Listed
from looptck.run import Run
from looptck.turns import Call, calls, says
from looptck.verdicts import NotReached

PING = Call.of("ping")
DONE = "That was all."

Line = tuple[str, str]


def fresh() -> str:
    """An id that no session has, on servers that outlive the kit too."""
    return f"looptck-{uuid.uuid4()}"


def path(session: str) -> str:
    """Where a session is read, written and deleted."""
    return f"/v1/sessions/{session}"


def one_round(provider: Scene, guest: Guest, question: str, session: str | None, **how: Any) -> Run:
    """A run whose first turn calls ping and whose second answers.

    Raises:
        NotReached: the tool did not run, or there was no answer.
    """
    provider.plays(calls(PING), says(DONE))
    run = guest.ask(question, session=session, **how)
    if [("ping", {})] != run.tools_ran or run.got.text != DONE:
        raise NotReached(f"control: a run with one call should run it and answer; {run.tools_ran} ran: {run.got}")
    return run


def export(guest: Guest, session: str) -> Any:
    """The body of a session's export.

    Raises:
        NotReached: it is not given out.
    """
    with guest.http() as client:
        got = client.get(path(session))
    if got.status_code != 200:
        raise NotReached(f"the export of session {session} was answered with {got.status_code}: {got.text[:300]}")
    return got.json()


def kept(guest: Guest, session: str) -> list[Line]:
    """What a session holds."""
    return told(exported(export(guest, session)))


def told(items: Iterable[Item]) -> list[Line]:
    """A history without its ids, which are the server's own business: who says what, calls, and what each gave.

    Instructions are left out, for a server may have its own.
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
    """The lines without what the model said to the client at last: servers may keep that or not."""
    return [line for line in lines if line[0] != "assistant"]


def asked_first(run: Run) -> list[Line]:
    """The history of the first question to the model."""
    return Listed(told(run.request(1).request.items))
