"""Server-side loops: two hundred concurrent clients, none of which loses data or gets another client's data."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from looptck.bench.checks import lengthy, requirement
from looptck.bench.client.export import exported
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.bench.settling import come_to_rest
from looptck.drivers.idle import pulse
from looptck.provider.gate import Gate
from looptck.provider.gates import tools_began
from looptck.provider.toolbox import Returns
from looptck.spec.server_loop.clients import Client, phases_of
from looptck.spec.server_loop.growth import grows
from looptck.spec.server_loop.replies import json_of
from looptck.spec.server_loop.sessions import comparable, fresh, path
from looptck.values.plain import plain
from looptck.values.verdicts import NotApplicable, NotReached

CLIENTS = 200
ROUNDS = 2
KEPT = 128
"""The minimum number of sessions that a server keeps."""
WARM = 2
"""Rounds of load after which a server has all the memory that it works with."""
MOST_ROUNDS = 4
"""Rounds of load of which each has to grow a server before it is said to keep what is over."""
RESTING = 10.0
"""Seconds that a server gets to come to rest: it releases what it has for a client after its last byte was read."""
NAME = re.compile(r"server\d{3}")


def _clients(at: int = 0) -> list[Client]:
    """Two hundred clients, whose names differ from those of earlier ones."""
    return [Client(f"server{n:03d}") for n in range(at * CLIENTS, (at + 1) * CLIENTS)]


def _all_at_once(
    scenario: Scenario, server: ServerUnderTest, clients: Sequence[Client], sessions: Sequence[str | None]
) -> list[Run]:
    """The runs of clients whose first calls are held until each client has made one.

    Raises:
        NotReached: they were never all active at the same time.
    """
    all_here = tools_began(len(clients))
    all_here.patience, all_here.of_silence = server.implementation.bench.patience.outcome * 0.8, True
    begun = []
    for client, session in zip(clients, sessions, strict=True):
        scenario.plays(*client.turns(ROUNDS))
        first, *others = client.results(ROUNDS)
        scenario.behaviours = {client.tool.name: [_held(first, all_here), *others]}
        begun.append(server.begin(client.question, tools=(client.tool,), session=session))
    scenario.behaviours = {}
    runs = [server.end(one) for one in begun]
    if not all_here.is_open:
        ran = sum(bool(run.ran) for run in runs)
        raise NotReached(f"{ran} of {len(clients)} clients were active at the same time: {_failed(runs)}")
    return runs


def _held(behaviour: Any, gate: Gate) -> Returns:
    return Returns(behaviour.value, hold=gate)


def _failed(runs: Sequence[Run]) -> str:
    return next((str(run.got) for run in runs if not run.got.ok), "all of them were answered")


def _whole(run: Run, client: Client) -> None:
    """Assert that a client got all of its own data, in order, and nothing else."""
    phases = [phase for n in range(ROUNDS) for phase in ((n, "calling"), (n, "complete"))]
    told = phases_of(run.got.progress)
    assert run.got.ok, f"{client.name} got {run.got}"
    assert run.got.ended, f"the stream of {client.name} has no end"
    assert client.answer == run.got.text, (
        f"{client.name} got the text {plain(run.got.text)}, not {plain(client.answer)}"
    )
    assert phases == told, f"{client.name} got other events than its own: {plain(told)}, not {plain(phases)}"
    named = sorted({one.tool for one in run.got.progress})
    assert [client.tool.name] == named, f"{client.name} is told of the tools {plain(named)}, not of {client.tool.name}"
    wanted = [(client.tool.name, client.arguments(n)) for n in range(ROUNDS)]
    assert wanted == run.tools_ran, f"for {client.name} {plain(run.tools_ran)} ran, not {plain(wanted)}"
    assert {client.name} == _names(run.got.raw), f"the reply to {client.name} names other clients"


def _names(text: bytes) -> set[str]:
    return set(NAME.findall(text.decode(errors="replace")))


@lengthy
@requirement("server-many-streams-lose-nothing")
def test_many_streams(scenario: Scenario, server: ServerUnderTest) -> None:
    """Each of two hundred streams has the events of its own two rounds, its own answer, and its end."""
    _alone(scenario, server)
    clients = _clients()

    runs = _all_at_once(scenario, server, clients, [None] * CLIENTS)

    for run, client in zip(runs, clients, strict=True):
        _whole(run, client)


def _alone(scenario: Scenario, server: ServerUnderTest) -> None:
    """The control: one such client without any other. What goes wrong there has nothing to do with other clients."""
    client = Client("server999")
    run = _all_at_once(scenario, server, [client], [None])[0]
    try:
        _whole(run, client)
    except AssertionError as wrong:
        found = str(wrong).partition("\nassert ")[0]
        raise NotReached(f"control: without any other client, {found}") from None


@lengthy
@requirement("server-many-sessions-stay-apart")
def test_many_sessions(scenario: Scenario, server: ServerUnderTest) -> None:
    """Each stored session of two hundred has the calls and results of its own client only."""
    clients, sessions = _clients(), [fresh() for _ in range(CLIENTS)]

    runs = _all_at_once(scenario, server, clients, sessions)

    for run, client in zip(runs, clients, strict=True):
        for received in run.received:
            assert {client.name} == _names(received.raw), f"a model request of {client.name} names other clients"
    with server.http() as http:
        exports = [http.get(path(session)) for session in sessions]
    kept = [(client, got) for client, got in zip(clients, exports, strict=True) if got.status_code == 200]
    if len(kept) < KEPT:
        raise NotReached(f"of {CLIENTS} sessions {len(kept)} can be exported, {_failed(runs)}")
    for client, got in kept:
        lines = comparable(exported(json_of(got)))
        assert {client.name} == _names(got.content), f"the session of {client.name} names other clients"
        for n in range(ROUNDS):
            assert (f"result of {client.tool.name}", client.result(n)) in lines


@lengthy
@requirement("server-memory-is-bounded")
def test_more_of_the_same(scenario: Scenario, server: ServerUnderTest) -> None:
    """The process is no larger after two hundred more streams, once it has played two hundred twice."""
    sizes: list[int] = []
    while len(sizes) <= WARM or (len(sizes) < MOST_ROUNDS and grows(*sizes[-2:])):
        at = len(sizes)
        runs = _all_at_once(scenario, server, _clients(at), [None] * CLIENTS)
        failed = [run for run in runs if not run.got.ok]
        if failed:
            raise NotReached(f"{len(failed)} of {CLIENTS} clients got no answer: {failed[0].got}")
        server.implementation.runs.clear()
        del runs, failed
        sizes.append(_resident(server))

    *_, before, after = sizes
    assert not grows(before, after), f"the process grows with each {CLIENTS} streams, in bytes: {plain(sizes)}"


def _resident(server: ServerUnderTest) -> int:
    """The memory of the server's process at rest, in bytes."""
    process = server.process()
    if process is None or not Path("/proc/self/status").exists():
        raise NotApplicable(
            "the size of the server's process can be read only on Linux, and only if its process id is known"
        )
    own = {threading.get_native_id()}
    come_to_rest(lambda: pulse(process, own), RESTING)
    try:
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    except OSError:
        found = None
    if found is None:
        raise NotReached(f"the server's process {process} has ended")
    return int(found[1]) * 1024
