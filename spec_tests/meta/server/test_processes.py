"""Servers as processes: how they fail to start, and how they end."""

from __future__ import annotations

import os
import select
import socket
import sys
from pathlib import Path

import pytest

from looptck.drivers import DriverFault
from looptck.drivers.servers import process as room
from looptck.drivers.servers.process import Process

LISTENS = """
import socket, sys
from pathlib import Path
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
"""
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN){LISTENS}signal.pause()"
POLITE = f"""import signal{LISTENS}
def leave(*_):
    Path(sys.argv[2]).write_text("bye")
    sys.exit()
signal.signal(signal.SIGTERM, leave)
listener.listen()
signal.pause()
"""
PARENT = f"""import signal, subprocess{LISTENS}
child = subprocess.Popen([sys.executable, "-S", "-c", "import signal; signal.pause()"])
Path(sys.argv[2]).write_text(str(child.pid))
signal.pause()
"""


@pytest.fixture(name="port")
def _port() -> int:
    """A port that is free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def started(code: str, port: int, *words: str) -> Process:
    """A process of this code, which is told its port."""
    return Process([sys.executable, "-S", "-c", code, str(port), *words], port)


def test_a_command_that_is_not_there_is_told() -> None:
    """A command that cannot be run is the driver's fault."""
    with pytest.raises(DriverFault, match=r"cannot-start.*no-such-command --port"):
        Process(["no-such-command", "--port"], 1)


def test_a_command_that_ends_at_once_is_told(port: int) -> None:
    """Its status and the end of what it wrote are told, however much that was."""
    process = started("import sys; print('x' * 5000); sys.exit('port taken')", port)

    with pytest.raises(DriverFault) as fault:
        process.wait()

    assert "ended with status 1 before it took a connection" in fault.value.detail
    assert room.KEPT == len(fault.value.stderr)
    assert fault.value.stderr.endswith("port taken\n")


def test_a_command_that_never_listens_is_ended(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes no connection in time is told, and does not stay."""
    monkeypatch.setattr(room, "STARTING", 0.0)
    process = started("import signal; signal.pause()", port)

    with pytest.raises(DriverFault, match=f"takes no connection on port {port} after 0 s"):
        process.wait()

    assert not runs(process.id)


def test_what_it_writes_can_be_read_meanwhile(port: int) -> None:
    """What a process writes from some moment on is read, and it goes on writing where it was."""
    process = started(f"print('before', flush=True){LISTENS}{2 * 'listener.accept();'}print('after')", port)
    process.wait()
    log, start = process.log, process.log.size

    socket.create_connection(("127.0.0.1", port)).close()
    process._process.wait(10.0)

    assert "before\nafter\n" == log.since(0)
    assert "after\n" == log.since(start)
    process.end()
    assert not log.since(0)


def test_an_end_is_asked_for(port: int, tmp_path: Path) -> None:
    """A server gets the chance to leave by itself."""
    process = started(POLITE, port, str(tmp_path / "said"))
    process.wait()

    process.end()

    assert "bye" == (tmp_path / "said").read_text()
    assert not runs(process.id)


def test_an_end_is_had(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that does not leave is ended all the same, and ending it again does no harm."""
    monkeypatch.setattr(room, "STOPPING", 0.0)
    process = started(STUBBORN, port)
    process.wait()

    process.end()
    process.end()

    assert not runs(process.id)


def test_what_it_has_started_goes_with_it(port: int, tmp_path: Path) -> None:
    """Children of a server do not outlive it."""
    told = tmp_path / "child"
    os.mkfifo(told)
    process = started(PARENT, port, str(told))
    process.wait()
    child = os.pidfd_open(int(told.read_text()))  # waits until it is written
    process.end()

    assert [child] == select.select([child], [], [], 10.0)[0]
    os.close(child)


def runs(process: int) -> bool:
    """Whether there is such a process, be it only its status that waits to be asked for."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
