"""The provider as a server: concurrent mock runs, gates between two requests, and no leftovers after a stop."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, RemoteDisconnected
from pathlib import Path
from typing import Any

import pytest

from looptck.drivers import DriverFault
from looptck.provider import gates
from looptck.provider import server as module
from looptck.provider.gate import Gate
from looptck.provider.mock_run import MockRun
from looptck.provider.script import Hold, Script, Step, step
from looptck.provider.server import HOST, KEPT, Provider
from looptck.provider.toolbox import Behaviour, Returns, Toolbox
from looptck.values.transcript import Chunk, ConfirmAsked, Event, GaveUp, Received, Replied, ToolBegan, ToolEnded
from looptck.values.turns import says
from looptck.wires.openai_chat import OPENAI_CHAT

ASKS = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Go."}]})
STREAMS = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Go."}], "stream": True})
ENOUGH = 20.0
SHORT = 0.05


@pytest.fixture
def server() -> Iterator[Provider]:
    """A running provider."""
    with Provider() as provider:
        yield provider


def mock_run(*what: Any, patience: float = ENOUGH, watched: tuple[Gate, ...] = (), **tools: list[Behaviour]) -> MockRun:
    """A mock run with these steps."""
    script = Script(tuple(step(one) for one in what))
    return MockRun(OPENAI_CHAT, script, Toolbox({**tools}), gates=watched, patience=patience)


def connected(url: str) -> HTTPConnection:
    """A connection to the server of a mock run."""
    return HTTPConnection(url.split("/")[2], timeout=ENOUGH)


def post(url: str, body: str = ASKS) -> tuple[int, str]:
    """Status and body of the answer to a POST."""
    connection = connected(url)
    try:
        connection.request("POST", "/" + url.split("/", 3)[3], body)
        with connection.getresponse() as response:
            return response.status, response.read().decode()
    finally:
        connection.close()


def asked(url: str, body: str = ASKS) -> tuple[int, str]:
    """Status and body of the answer to a model request to a mock run."""
    return post(f"{url}/v1/chat/completions", body)


def files() -> int:
    """The number of open files of this process."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def kinds(mock_run: MockRun) -> list[str]:
    """The kinds of the recorded events, in order."""
    return [type(event).__name__ for event in mock_run.transcript.events]


def test_mock_runs_do_not_hear_each_other(server: Provider) -> None:
    """Each of two mock runs follows its own script, under its own path, in any order of requests."""
    first, second = mock_run(says("One."), says("Two.")), mock_run(says("Eins."))
    a, b = server.open(first), server.open(second)

    texts = [json.loads(asked(url)[1])["choices"][0]["message"]["content"] for url in (a, b, a)]

    assert ["One.", "Eins.", "Two."] == texts
    assert [2, 1] == [sum(isinstance(event, Received) for event in one.transcript.events) for one in (first, second)]


def test_a_prefix_is_a_whole_segment(server: Provider) -> None:
    """A path that only begins like that of a mock run does not belong to it."""
    played = mock_run(says("One."))
    url = server.open(played)

    with pytest.raises(RemoteDisconnected):
        asked(url + "0")
    assert [] == played.transcript.events


def test_a_closed_mock_run_is_gone(server: Provider) -> None:
    """After its run the URLs of a mock run are refused, and late requests are not recorded."""
    played = mock_run(says("One."), says("Two."))
    url = server.open(played)
    asked(url)
    server.close(played)

    with pytest.raises(RemoteDisconnected):
        asked(url)
    assert ["Received", "Replied"] == kinds(played)


def test_a_function_of_a_run_that_is_over_says_so(server: Provider) -> None:
    """A loop that has kept the functions of another run learns why they fail; the run that is over does not."""
    played = mock_run(says("One."))
    url = server.open(played)
    server.close(played, "r1")

    status, told = post(f"{url}/tools/weather", '{"arguments": {}}')

    assert (200, {"error": {"type": "RunIsOver", "message": KEPT}}) == (status, json.loads(told))
    with pytest.raises(RemoteDisconnected):
        asked(url)
    assert [] == kinds(played)


def test_a_connection_is_kept_alive(server: Provider) -> None:
    """Several requests share one connection, after plain and after streamed replies."""
    url = server.open(mock_run(says("One."), says("Two."), says("Three.")))
    connection = connected(url)
    path = "/" + url.split("/", 3)[3] + "/v1/chat/completions"
    statuses = []
    for body in (ASKS, STREAMS, ASKS):
        connection.request("POST", path, body)
        response = connection.getresponse()
        response.read()
        statuses.append((response.status, connection.sock is not None))
    connection.close()

    assert [(200, True)] * 3 == statuses


def test_a_held_stream_waits_for_its_gate(server: Provider) -> None:
    """The rest of a stream is sent when the gate opens, and not before."""
    gate = Gate("asked to")
    played = mock_run(Step(says("Hello."), holds=(Hold(gate, 1),)))
    url = server.open(played)
    connection = connected(url)
    connection.request("POST", "/" + url.split("/", 3)[3] + "/v1/chat/completions", STREAMS)
    response = connection.getresponse()
    first = response.readline()
    before = kinds(played)
    gate.open()
    rest = response.read()
    connection.close()

    assert b'"content":""' in first
    assert ["Received"] == before
    assert b"Hello." in rest
    assert ["Received", "Replied"] == kinds(played)


def test_a_gate_that_no_one_opens_is_given_up(server: Provider) -> None:
    """After a timeout the provider continues without the gate, and records this."""
    played = mock_run(Step(says("Hello."), holds=(Hold(Gate("never"), 1),)), patience=SHORT)

    status, body = asked(server.open(played), STREAMS)

    assert (200, True) == (status, body.endswith("data: [DONE]\n\n"))
    assert ["never"] == [event.gate for event in played.transcript.events if isinstance(event, GaveUp)]
    assert ["Received", "GaveUp", "Replied"] == kinds(played)


def test_a_gate_may_have_a_patience_of_its_own(server: Provider) -> None:
    """A gate that is expected to stay shut has its own, shorter timeout."""
    played = mock_run(Step(says("Hello."), before=Gate("never", patience=SHORT)))

    assert 200 == asked(server.open(played))[0]
    assert ["Received", "GaveUp", "Replied"] == kinds(played)


def test_a_tool_that_has_begun_opens_the_gate_of_another(server: Provider) -> None:
    """A tool is held until another has begun: only if both run at once, the first ends without a timeout."""
    gate = gates.tool_began("add")
    played = mock_run(ping=[Returns("Pong.", hold=gate)], watched=(gate,))
    url = server.open(played)
    answers: list[tuple[int, str]] = []
    first = threading.Thread(target=lambda: answers.append(post(f"{url}/tools/ping", '{"arguments": {}}')))
    first.start()

    answers.append(post(f"{url}/tools/add", '{"arguments": {}}'))
    first.join(ENOUGH)

    assert {(200, '{"value":"Pong."}'), (200, '{"value":"result 1 of add"}')} == set(answers)
    assert "GaveUp" not in kinds(played)


@pytest.mark.parametrize(("path", "body"), [("/v1/chat/completions", ASKS), ("/tools/ping", '{"arguments": {}}')])
def test_what_is_not_answered_is_owed(server: Provider, path: str, body: str) -> None:
    """A held reply is owed until it is sent, and so is a request that has come in part; a kept connection is none."""
    gate, begun = Gate("asked to"), threading.Event()
    played = mock_run(Step(says("Hello."), before=gate), ping=[Returns("Pong.", hold=gate)])
    played.transcript.watchers.append(lambda _: begun.set())
    url = server.open(played)
    connection = connected(url)
    assert not server.owes

    connection.request("POST", "/" + url.split("/", 3)[3] + path, body)
    assert begun.wait(ENOUGH)
    assert server.owes
    gate.open()
    connection.getresponse().read()
    assert not server.owes

    connection.sock.sendall(b"POST /")
    server.flush()
    assert server.owes
    connection.close()


def test_a_client_that_leaves_is_not_replied_to(server: Provider) -> None:
    """A reply whose client has disconnected is never recorded as sent."""
    gate = Gate("asked to")
    left = threading.Event()
    played = mock_run(Step(says("Hello."), before=gate))
    url = server.open(played)
    connection = connected(url)
    connection.request("POST", "/" + url.split("/", 3)[3] + "/v1/chat/completions", ASKS)
    server._loop.call_soon_threadsafe(_signal, server, left)
    connection.close()
    assert left.wait(ENOUGH)
    gate.open()

    assert 200 == asked(server.open(mock_run(says("Next."))))[0]
    assert [] == [event for event in played.transcript.events if isinstance(event, Replied)]


def _signal(server: Provider, left: threading.Event) -> None:
    """On the provider's thread: set the event when a connection was there and none is left."""
    seen = [False]

    def look() -> None:
        seen[0] = seen[0] or bool(server._connections)
        if seen[0] and not server._connections:
            left.set()
        else:
            server._loop.call_soon(look)

    look()


# -- gates by themselves ----------------------------------------------------------------------------------------------


def test_a_gate_stays_open() -> None:
    """An open gate stays open for all later requests."""
    gate = Gate("open")
    gate.open()

    assert asyncio.run(gate.wait(SHORT))
    assert gate.is_open


def test_a_gate_that_was_given_up_forgets_who_waited() -> None:
    """A gate may be opened after the event loop of an abandoned waiter was closed."""
    gate = Gate("late")

    assert not asyncio.run(gate.wait(SHORT))
    gate.open()
    assert gate.is_open


@pytest.mark.parametrize(
    ("gate", "events", "opens"),
    [
        (gates.caller_has("ab"), [Chunk(0, "a"), Chunk(0, "b")], True),
        (gates.caller_has("ab"), [Chunk(0, "b"), Chunk(0, "a")], False),
        (gates.tool_began("add", 2), [ToolBegan(0, 1, "add", {}), ToolBegan(0, 2, "ping", {})], False),
        (gates.tool_began("add", 2), [ToolBegan(0, 1, "add", {}), ToolBegan(0, 2, "add", {})], True),
        (gates.tool_ended("add"), [ToolBegan(0, 1, "add", {}), ToolEnded(0, 1, {}, "add")], True),
        (gates.tool_ended("add"), [ToolBegan(0, 1, "add", {}), ToolEnded(0, 2, {}, "ping")], False),
        (gates.tool_ended("add", 2), [ToolEnded(0, 1, {}, "add"), ToolEnded(0, 2, {}, "add")], True),
        (gates.confirmation_asked("add"), [ConfirmAsked(0, 1, {}), ConfirmAsked(0, 2, {"_tool": "add"})], True),
        (gates.confirmation_asked("add", 2), [ConfirmAsked(0, 1, {"_tool": "add"})], False),
        (gates.tools_ended(1), [ToolBegan(0, 1, "add", {}), ToolEnded(0, 1, {})], True),
        (gates.tools_ended(2), [ToolEnded(0, 1, {}), ToolBegan(0, 2, "add", {})], False),
    ],
)
def test_a_gate_opens_on_what_it_waits_for(gate: Gate, events: list[Event], opens: bool) -> None:
    """A gate opens when the last awaited event has happened."""
    for event in events:
        assert not gate.is_open
        gate.watch(event)

    assert opens == gate.is_open


def test_a_gate_counts_right_from_many_threads() -> None:
    """Concurrent events of many threads are all counted."""
    gate = gates.tools_ended(4000)
    start = threading.Barrier(4)

    def watch() -> None:
        start.wait(ENOUGH)
        for number in range(1000):
            gate.watch(Chunk(0, "x"))
            gate.watch(ToolEnded(0, number, {}))

    threads = [threading.Thread(target=watch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(ENOUGH)

    assert gate.is_open


# -- start and stop ---------------------------------------------------------------------------------------------------


def test_a_stopped_provider_leaves_nothing() -> None:
    """After a stop all threads, sockets and ports are released, even if clients still wait."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("there is no /proc here to look at")
    threads = set(threading.enumerate())
    gc.collect()  # leftovers of earlier tests must not count
    before = files()
    with Provider() as provider:
        url = provider.open(mock_run(Step(says("Hello."), before=Gate("never")), says("Hello.")))
        idle, waiting = connected(url), connected(url)
        idle.connect()
        waiting.request("POST", "/" + url.split("/", 3)[3] + "/v1/chat/completions", ASKS)
        port = int(url.split("/")[2].partition(":")[2])
    ends = [_last_byte(idle), _last_byte(waiting)]
    idle.close()
    waiting.close()

    assert [b"", b""] == ends
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((HOST, port), ENOUGH)
    assert threads >= set(threading.enumerate())
    assert before >= files()


def _last_byte(connection: HTTPConnection) -> bytes:
    """The bytes that remain to be read after the server has aborted: none."""
    try:
        return connection.sock.recv(1)
    except ConnectionResetError:
        return b""


def test_a_port_that_is_taken_is_an_error() -> None:
    """A port in use raises OSError, and no thread is left."""
    before = set(threading.enumerate())
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        with pytest.raises(OSError, match="address"):
            Provider(taken.getsockname()[1]).__enter__()

    assert before >= set(threading.enumerate())


def test_it_listens_on_loopback_alone(server: Provider) -> None:
    """The provider cannot be reached from another machine."""
    assert server._server is not None

    assert ["127.0.0.1"] == [one.getsockname()[0] for one in server._server.sockets]


def test_a_thread_that_cannot_be_woken_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits for it ends, and what comes later does not begin: the fault is that of the code in this process."""
    monkeypatch.setattr(module, "ANSWERING", 0.2)
    monkeypatch.setattr(module, "LOOK", 0.05)
    held = threading.Event()
    provider = Provider().__enter__()
    provider._loop.call_soon_threadsafe(held.wait)

    with pytest.raises(DriverFault, match="crashed"):
        provider.flush()
    with pytest.raises(DriverFault, match="crashed"):
        provider.open(mock_run(says("Hello.")))

    held.set()
    provider._is_stuck = False
    provider.__exit__()
