"""Servers that a file describes: what a description may say, and what becomes of it."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from looptck.bench.bench import Patience
from looptck.bench.benches import ServerBench
from looptck.catalogue.yaml_files import BadFile
from looptck.drivers import DriverFault, Servers, connect
from looptck.drivers.servers.described import PORT, Described
from looptck.values.jsontext import compact

ABOUT: dict[str, Any] = {
    "name": "tiny",
    "version": "1.0",
    "wires": ["openai-chat"],
    "capabilities": ["dispatch", "upstream"],
}
ECHO = [sys.executable, str(Path(__file__).with_name("echo.py"))]
"""A server that tells the words that it was started with."""


def written(folder: Path, **members: Any) -> Path:
    """A description with these members beside what it has to say; without those that are None."""
    path = folder / "server.yaml"
    told = {name: value for name, value in {**ABOUT, **members}.items() if value is not None}
    path.write_bytes(compact(told))
    return path


@pytest.fixture(name="closed")
def _closed() -> Iterator[int]:
    """A port on which nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.fixture(name="opened")
def _opened(tmp_path: Path) -> Iterator[Servers]:
    """A server with two set-ups, that was told where its model is."""
    setups = {"usual": ["--upstream", "{upstream}", "--dispatch={dispatch}", "{port} twice"], "bare": []}
    line = connect(f"server:{written(tmp_path, command=[*ECHO, '{port}'], setups=setups)}")
    assert isinstance(line, Servers)
    line.between("http://model/v1", "http://model/dispatch")
    yield line
    line.stop()


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"setups": None}, "setups"),
        ({"setups": {"bare": []}}, "usual"),
        ({"setups": {"usual": [], "odd": []}}, "odd"),
        ({"setups": {"usual": 1}}, "/setups/usual"),
        ({"setups": {"usual": "ftp://127.0.0.1"}, "port": 1}, "/setups/usual"),
        ({"setups": {"usual": ["a"]}, "command": []}, "/command"),
        ({"setups": {"usual": "http://127.0.0.1:1"}, "port": 0}, "/port"),
        ({"capabilities": ["telepathy"]}, "telepathy"),
        ({"wires": []}, "/wires"),
        ({"unknown": 1}, "unknown"),
        ({"setups": {"usual": ["a"]}}, "/setups/usual: needs the arguments of the command"),
        ({"setups": {"usual": None}, "command": ["a"]}, "/setups/usual: needs the arguments of the command"),
        ({"setups": {"usual": "http://127.0.0.1:1"}}, "/setups/usual: a server that is already running"),
    ],
)
def test_a_bad_description_is_refused(tmp_path: Path, members: Mapping[str, Any], told: str) -> None:
    """What breaks the schema, or says too little to reach a server, is told with its place."""
    with pytest.raises(BadFile, match=told):
        Described.read(written(tmp_path, **{"setups": {"usual": []}, **members}))


def test_a_word_that_is_no_server_is_refused(tmp_path: Path) -> None:
    """A driver that is no description, no URL and no object is told so."""
    with pytest.raises(ValueError, match="server: needs a URL"):
        connect("server:")
    with pytest.raises(BadFile, match=r"none\.yaml: cannot be read"):
        connect(f"server:{tmp_path / 'none.yaml'}")


def test_a_description_is_what_the_kit_knows(tmp_path: Path) -> None:
    """Capabilities and further set-ups can be asked for, and every server streams."""
    path = written(tmp_path, command=ECHO, setups={"usual": [], "bare": []}, dialect={"cap": "error"})

    started = connect(f"server:{path}").start()

    assert ("tiny", "1.0", "", ("openai-chat",)) == (started.name, started.version, started.language, started.wires)
    assert {"stream": True, "dispatch": True, "upstream": True, "bare": True} == started.capabilities
    assert (("sync",), ("server-loop",), {"cap": "error"}) == (started.modes, started.profiles, started.dialect)


def test_a_url_is_a_server(closed: int) -> None:
    """A server of which no more is known takes Chat Completions, and finds the kit at a known port."""
    line = connect(f"server:http://127.0.0.1:{closed}/")
    assert isinstance(line, Servers)

    started = line.start()

    assert (f"http://127.0.0.1:{closed}/", "unknown", ("openai-chat",)) == (
        started.name,
        started.version,
        started.wires,
    )
    assert {"stream": True, "dispatch": True, "upstream": True} == started.capabilities
    assert PORT == line.port


def test_a_server_that_cannot_be_opened_is_closed(monkeypatch: pytest.MonkeyPatch, closed: int) -> None:
    """No check is played where nothing answers, and what its driver has begun is stopped."""
    stopped: list[str] = []
    monkeypatch.setattr(ServerBench, "can_be_started_twice", False)  # by a port that no other test may have meanwhile
    line = Servers(Described({**ABOUT, "port": 0, "setups": {"usual": f"http://127.0.0.1:{closed}"}}))
    monkeypatch.setattr(line, "stop", lambda: stopped.append("the line"))

    with pytest.raises(DriverFault, match="nothing answers"), ServerBench("", line, Patience()):
        pass

    assert ["the line"] == stopped


@pytest.mark.parametrize("place", ["{port}", "{port}/v1", "99999"])
def test_a_server_that_does_not_run_is_told(closed: int, place: str) -> None:
    """Where nothing answers the URL and its set-up are told, and it is knocked at no second time."""
    url = f"http://127.0.0.1:{place.format(port=closed)}"
    line = connect(f"server:{url}")
    assert isinstance(line, Servers)

    faults = []
    for _ in range(2):
        with pytest.raises(DriverFault, match=f"nothing answers at {url}, the set-up usual") as fault:
            line.url("usual")
        faults.append(fault.value)

    assert faults[0] is faults[1]


def test_a_server_that_runs_is_left_alone(tmp_path: Path) -> None:
    """A server that runs already is reached, and goes on when the kit stops."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        line = connect(f"server:{written(tmp_path, port=PORT, setups={'usual': url})}")
        assert isinstance(line, Servers)

        assert (url.rstrip("/"), None) == (line.url("usual"), line.process("usual"))
        assert [] == line.stop()
        socket.create_connection(listener.getsockname(), timeout=5.0).close()


def test_a_command_is_told_all_it_needs(opened: Servers) -> None:
    """The places in the words of command and set-up are filled, wherever they stand in a word."""
    url = opened.url("usual")
    port = url.rpartition(":")[2]

    assert [port, "--upstream", "http://model/v1", "--dispatch=http://model/dispatch", f"{port} twice"] == (
        httpx.get(url, trust_env=False).json()
    )


def test_a_set_up_is_started_once(opened: Servers) -> None:
    """Each set-up is a process of its own, which stays the same however often it is asked for."""
    usual, bare = opened.url("usual"), opened.url("bare")

    assert usual == opened.url("usual")
    assert usual != bare
    assert opened.process("usual") != opened.process("bare")
    assert opened.process("usual") == opened.process("usual")
