"""The table of faults for servers and programs: what is no declaration, what hangs, and what answers with anything."""

from __future__ import annotations

import gzip
import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from looptck.bench.bench import Patience
from looptck.bench.benches import server_bench
from looptck.bench.choosing import bench_for
from looptck.bench.client import Ask
from looptck.bench.scenario import Scenario
from looptck.catalogue.yaml_files import BadFile
from looptck.drivers import DriverFault
from looptck.values.cell import Cell
from looptck.values.outcome import Failed, Nothing
from looptck.values.turns import says
from meta.drivers.bench import ENOUGH
from meta.drivers.table_drivers import DESCRIBED, SAYS, SERVES

FILE = Path(__file__).with_name("table_drivers.py")
SHORT = 0.3
"""Seconds that what hangs may take."""
WRONG: list[Any] = [None, 7, {"a": 1}, [[]]]
FILE_OF_A_SERVER = {**SERVES, "command": ["true"], "setups": {"usual": []}}


def _wrong(right: dict[str, Any], *, but: tuple[str, ...] = ()) -> dict[str, dict[str, Any]]:
    """Declarations that lack a member, or have another value in its place."""
    needed = [name for name in right if name not in ("language", *but)]
    lacking = {f"no {name}": {key: value for key, value in right.items() if key != name} for name in needed}
    others = {f"{name} is {wrong!r}": {**right, name: wrong} for name in right if name not in but for wrong in WRONG}
    return {**lacking, **others, "an unknown member": {**right, "wire_": "x"}, "nothing": {}}


DECLARATIONS = {
    **{("server object", name): message for name, message in _wrong(SERVES).items()},
    **{("server file", name): message for name, message in _wrong(FILE_OF_A_SERVER).items()},
    **{("program", name): message for name, message in _wrong(DESCRIBED).items()},
}
for right in (("server file", "setups is {'a': 1}"), ("server object", "setups is {'a': 1}")):
    DECLARATIONS[right] = {**SERVES, "setups": ["unheard-of"]}


@pytest.mark.parametrize(("kind", "fault"), DECLARATIONS)
def test_what_is_no_declaration_is_told(kind: str, fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is refused before anything is played, with the reason."""
    message = DECLARATIONS[kind, fault]
    monkeypatch.setenv(SAYS, json.dumps({"started": message}))
    (tmp_path / "it.yaml").write_text(json.dumps(message), encoding="utf-8")
    words = {"server object": f"server:python:{FILE}:Server", "program": f"program:{tmp_path / 'it.yaml'}"}

    with (
        pytest.raises((DriverFault, BadFile)) as caught,
        bench_for(words.get(kind, f"server:{tmp_path / 'it.yaml'}"), Patience(ENOUGH)),
    ):
        pass

    assert str(caught.value)
    assert "cannot-start" == getattr(caught.value, "kind", "cannot-start")


@pytest.mark.parametrize("method", ["start", "open", "close"])
def test_a_server_object_that_hangs_is_told(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its methods has some time, whatever it waits for."""
    monkeypatch.setenv(SAYS, json.dumps({"hangs": method}))
    bench = bench_for(f"server:python:{FILE}:HangingServer", Patience(ENOUGH, start=SHORT))
    faults: list[DriverFault] = []
    try:
        with bench:
            server_bench(bench).servers.url("usual")
    except DriverFault as fault:
        faults.append(fault)

    (told,) = faults + bench.late_faults
    assert f"{method}(" in told.detail
    assert f"did not return within {SHORT:g} s" in told.detail


def test_a_program_object_that_hangs_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its description has to come in time."""
    monkeypatch.setattr(sys.modules["looptck.drivers.programs.programs"], "DESCRIBING", SHORT)

    with pytest.raises(ValueError, match=r"described\(\) did not return"):
        bench_for(f"program:python:{FILE}:HangingProgram")


JSON, EVENTS = b"content-type: application/json\r\n", b"content-type: text/event-stream\r\n"
OK = b"HTTP/1.1 200 OK\r\nconnection: close\r\n"
DEEP = b"[" * 200_000


def _sized(body: bytes, *headers: bytes, start: bytes = OK) -> bytes:
    return start + b"".join(headers) + b"content-length: %d\r\n\r\n%b" % (len(body), body)


ANSWERS = {
    "nothing": b"",
    "no HTTP": b"hello\r\n\r\n",
    "half a head": OK[:20],
    "a head alone": OK + JSON + b"content-length: 5\r\n\r\n",
    "an endless head": OK + b"x: y\r\n" * 20_000,
    "TLS": b"\x15\x03\x01\x00\x02\x02\x28",
    "no body": _sized(b"", JSON),
    "no JSON": _sized(b"<html>", JSON),
    "null": _sized(b"null", JSON),
    "a list": _sized(b"[1]", JSON),
    "choices of another kind": _sized(b'{"choices": {"a": 1}}', JSON),
    "deep JSON": _sized(DEEP, JSON),
    "bytes that are no text": _sized(b"\xff\xfe\x00", JSON),
    "half of a surrogate pair": _sized(b'{"choices": [{"message": {"content": "\\ud800"}}]}', JSON),
    "a number of 10,000 digits": _sized(b'{"choices": %b}' % (b"9" * 10_000), JSON),
    "deep events": _sized(b"data: " + DEEP + b"\n\n", EVENTS),
    "events of another kind": _sized(b"data: 7\n\ndata: [1]\n\ndata: {}\n\n", EVENTS),
    "an event without an end": _sized(b"data: {", EVENTS),
    "a wrong chunk": OK + EVENTS + b"transfer-encoding: chunked\r\n\r\nzz\r\n",
    "a chunk that is cut": OK + EVENTS + b"transfer-encoding: chunked\r\n\r\n99\r\ndata: ",
    "a redirect": _sized(b"", b"location: http://127.0.0.1:9/\r\n", start=b"HTTP/1.1 307 Look\r\n"),
    "100 and no more": b"HTTP/1.1 100 Continue\r\n\r\n" * 50,
    "no gzip": _sized(b"x" * 50, JSON, b"content-encoding: gzip\r\n"),
    "gzip in gzip": _sized(gzip.compress(gzip.compress(bytes(10_000))), JSON, b"content-encoding: gzip, gzip\r\n"),
    "status 0": _sized(b"", JSON, start=b"HTTP/1.1 000 Nothing\r\n"),
    "status 204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "control characters": _sized(b"\x1b[2J", JSON, start=b"HTTP/1.1 500 \x1b[31m\r\n"),
}
"""What a server may answer with, and then close the connection."""


@contextmanager
def _answering(answer: bytes) -> Iterator[str]:
    """The URL of a server that answers so."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            try:
                while True:
                    line, _ = listening.accept()
                    with line:
                        line.recv(1 << 16)
                        line.sendall(answer)
            except OSError:
                return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("fault", ANSWERS)
def test_any_answer_of_a_server_is_an_outcome(fault: str, stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the server's, neither an error of the kit nor a reply that a check takes for one."""
    with _answering(ANSWERS[fault]) as url:
        monkeypatch.setenv(SAYS, json.dumps({"url": url}))
        with server_bench(bench_for(f"server:python:{FILE}:Server", Patience(ENOUGH))) as bench:
            scenario = Scenario()
            scenario.plays(says("Done."))
            cell = Cell("openai-chat", stream=stream, mode="sync")
            run = server_bench(bench).ask(scenario, cell, Ask(question="And?")).result()

    assert isinstance(run.outcome, Failed | Nothing), run.outcome
    assert run.reply is not None
    assert str(run.reply)


def test_there_are_many() -> None:
    """Faults times kinds."""
    assert 120 <= len(DECLARATIONS) + 2 * len(ANSWERS) + 4
