"""Server-side loops: two hundred clients at the same time, none of whom loses anything or gets what is another's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from looptck.checks import lengthy, requirement
from looptck.client.export import exported
from looptck.guest import Guest
from looptck.kit import Scene
from looptck.provider.gates import Gate, tools_began
from looptck.provider.toolbox import Returns
from looptck.run import Run
from looptck.spec.server_clients import Client
from looptck.spec.server_sessions import fresh, path, told
from looptck.verdicts import NotApplicable, NotReached

CLIENTS = 200
ROUNDS = 2
KEPT = 128
"""The sessions that a server keeps at least."""
GROWTH = 24 * 1024 * 1024
"""Bytes that a process may grow by with more of the same: what it freed is not all given back."""
NAME = re.compile(r"guest\d{3}")


def _clients(at: int = 0) -> list[Client]:
    """Two hundred, whose names are not those of an earlier two hundred."""
    return [Client(f"guest{n:03d}") for n in range(at * CLIENTS, (at + 1) * CLIENTS)]


def _all_at_once(provider: Scene, guest: Guest, clients: Sequence[Client], sessions: Sequence[str | None]) -> list[Run]:
    """The runs of clients whose first calls are held until each has made one.

    Raises:
        NotReached: they were never all under way at the same time.
    """
    all_here = tools_began(len(clients))
    all_here.patience = guest.implementation.kit.patience.outcome * 0.8
    begun = []
    for client, session in zip(clients, sessions, strict=True):
        provider.plays(*client.turns(ROUNDS))
        first, *others = client.results(ROUNDS)
        provider.behaviours = {client.tool.name: [_held(first, all_here), *others]}
        begun.append(guest.begin(client.question, tools=(client.tool,), session=session))
    provider.behaviours = {}
    runs = [guest.end(one) for one in begun]
    if not all_here.is_open:
        ran = sum(bool(run.ran) for run in runs)
        raise NotReached(f"{ran} of {len(clients)} clients were under way at the same time: {_failed(runs)}")
    return runs


def _held(behaviour: Any, gate: Gate) -> Returns:
    return Returns(behaviour.value, hold=gate)


def _failed(runs: Sequence[Run]) -> str:
    return next((str(run.got) for run in runs if not run.got.ok), "all of them were answered")


def _whole(run: Run, client: Client) -> None:
    """Holds that a client got all that is its own, in its order, and nothing else."""
    phases = [phase for n in range(ROUNDS) for phase in ((n, "calling"), (n, "complete"))]
    assert run.got.ok, f"{client.name} got {run.got}"
    assert run.got.ended, f"the stream of {client.name} has no end"
    assert client.answer == run.got.text
    assert phases == [(one.round, one.phase) for one in run.got.progress], f"these are the events of {client.name}"
    assert {client.tool.name} == {one.tool for one in run.got.progress}
    assert [(client.tool.name, client.arguments(n)) for n in range(ROUNDS)] == run.tools_ran
    assert {client.name} == _names(run.got.raw), f"what {client.name} got names others"


def _names(text: bytes) -> set[str]:
    return set(NAME.findall(text.decode(errors="replace")))


@lengthy
@requirement("server-many-streams-lose-nothing")
def test_many_streams(provider: Scene, guest: Guest) -> None:
    """Each of two hundred streams has the events of its own two rounds, its own answer, and its end."""
    clients = _clients()

    runs = _all_at_once(provider, guest, clients, [None] * CLIENTS)

    for run, client in zip(runs, clients, strict=True):
        _whole(run, client)


@lengthy
@requirement("server-many-sessions-stay-apart")
def test_many_sessions(provider: Scene, guest: Guest) -> None:
    """Each of two hundred sessions that is still kept has the calls and results of its own client, and no others."""
    clients, sessions = _clients(), [fresh() for _ in range(CLIENTS)]

    runs = _all_at_once(provider, guest, clients, sessions)

    for run, client in zip(runs, clients, strict=True):
        for received in run.received:
            assert {client.name} == _names(received.raw), f"a question for {client.name} names others"
    with guest.http() as http:
        exports = [http.get(path(session)) for session in sessions]
    kept = [(client, got) for client, got in zip(clients, exports, strict=True) if got.status_code == 200]
    if len(kept) < KEPT:
        raise NotReached(f"of {CLIENTS} sessions {len(kept)} can be exported, {_failed(runs)}")
    for client, got in kept:
        lines = told(exported(got.json()))
        assert {client.name} == _names(got.content), f"the session of {client.name} names others"
        for n in range(ROUNDS):
            assert (f"result of {client.tool.name}", client.result(n)) in lines


@lengthy
@requirement("server-memory-is-bounded")
def test_more_of_the_same(provider: Scene, guest: Guest) -> None:
    """The process is no larger after a third time two hundred streams than after the second."""
    sizes = []
    for at in range(3):
        runs = _all_at_once(provider, guest, _clients(at), [None] * CLIENTS)
        failed = [run for run in runs if not run.got.ok]
        if failed:
            raise NotReached(f"{len(failed)} of {CLIENTS} clients got no answer: {failed[0].got}")
        guest.implementation.runs.clear()
        del runs, failed
        sizes.append(_resident(guest))

    _, before, after = sizes
    assert after <= before + GROWTH, f"the process has grown from {before} to {after} bytes"


def _resident(guest: Guest) -> int:
    """The memory of the server's process, in bytes."""
    process = guest.process()
    status = Path(f"/proc/{process}/status")
    if process is None or not status.exists():
        raise NotApplicable("the size of its process can be read on Linux only, where its id is known")
    found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text())
    if found is None:
        raise NotReached(f"the server's process {process} has ended")
    return int(found[1]) * 1024
