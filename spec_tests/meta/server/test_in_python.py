"""Servers of objects in this process: whatever they do wrong is told as a fault of the driver."""

from __future__ import annotations

import os

import pytest

from looptck.drivers import DriverFault, Servers, connect

NOT_STARTING = {
    "NeedsWords": "missing 1 required positional argument: 'words'",
    "DeclaresAList": "ValueError",
    "DeclaresNonsense": "start() returned an invalid declaration: /capabilities/0",
    "DeclaresAnObject": "start() returned an invalid declaration: it is not JSON: ",
    "LacksTheUsual": '"usual" is a required property',
    "LeavesAtStart": "SystemExit: 0",
    "Misspelt": "has no attribute 'Misspelt'",
}


def line(name: str) -> Servers:
    """The line to one of the tiny servers."""
    found = connect(f"server:python:meta.server.tiny:{name}")
    assert isinstance(found, Servers)
    found.between("http://127.0.0.1:9/v1", "http://127.0.0.1:9/dispatch")
    return found


@pytest.mark.parametrize("name", NOT_STARTING)
def test_what_declares_nonsense_does_not_start(name: str) -> None:
    """What cannot be made, or declares what the kit does not know, is told with the reason."""
    servers = line(name)

    with pytest.raises(DriverFault) as fault:
        servers.start()

    assert "cannot-start" == fault.value.kind
    assert NOT_STARTING[name] in fault.value.detail
    assert [] == servers.stop()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("CannotOpen", "open('usual'): RuntimeError: no usual today"),
        ("OpensNowhere", "returned None, which is not a URL"),
    ],
)
def test_what_cannot_be_opened_is_told(name: str, told: str) -> None:
    """A set-up that does not come up is told."""
    servers = line(name)
    servers.start()

    with pytest.raises(DriverFault) as fault:
        servers.url("usual")

    assert ("cannot-start", True) == (fault.value.kind, told in fault.value.detail)


def test_a_traceback_is_told() -> None:
    """The traceback of what it raises is told as its standard error."""
    servers = line("CannotOpen")
    servers.start()

    with pytest.raises(DriverFault) as fault:
        servers.url("bare")

    assert 'raise RuntimeError(f"no {setup} today")' in fault.value.stderr


def test_what_cannot_be_closed_is_told() -> None:
    """A fault at the end does not keep the kit from ending, and is one of its late faults."""
    servers = line("CannotClose")
    servers.start()
    servers.url("usual")

    assert [("crashed", "close(): OSError: the port is lost")] == [(one.kind, one.detail) for one in servers.stop()]


def test_a_set_up_is_opened_once() -> None:
    """Each set-up has a URL of its own, without a slash at its end, in the process of the kit."""
    servers = line("Bench")
    servers.start()

    usual, bare = servers.url("usual"), servers.url("bare")

    assert (usual, os.getpid()) == (servers.url("usual"), servers.process("usual"))
    assert usual != bare
    assert not usual.endswith("/")
    assert [] == servers.stop()
