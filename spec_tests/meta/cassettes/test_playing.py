"""Playing: the recorded bytes are sent, in the recorded chunks, and a loop that misreads them fails."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from looptck.bench.scenario import Scenario
from looptck.cassettes import Cassette, cassettes, read
from looptck.cassettes.playback import is_ordinary, set_scenario
from looptck.cli.group import main
from looptck.provider.mock_run import MockRun
from looptck.provider.script import Script
from looptck.provider.server import Provider
from looptck.provider.toolbox import Toolbox
from looptck.wires import WIRES
from meta.cassettes import misreaders
from meta.cassettes.doctored import STREAM, WHOLE, chunked, doctored

REQUIREMENT = "recorded-traffic-is-read-right"
Failing = Callable[[type], dict[str, str]]
PLAYED = [one for one in cassettes() if one.wire == "openai-chat" and is_ordinary(one)]
WITH_CALLS = {one.name for one in PLAYED if any(turn.calls for turn in one.followed)}
SHIPPED = {f"{one.wire}/{one.path.stem}": one for one in cassettes()}


def mock_run_of(cassette: Cassette) -> MockRun:
    """The stage that plays it."""
    scenario = Scenario()
    set_scenario(cassette, scenario)
    return MockRun(WIRES[cassette.wire], Script(tuple(scenario.steps)), Toolbox(dict(scenario.behaviours)))


@pytest.mark.parametrize("cassette", SHIPPED.values(), ids=SHIPPED)
def test_byte_for_byte(cassette: Cassette) -> None:
    """Each recorded request gets the status, the headers and the bytes that it got then."""
    mock_run = mock_run_of(cassette)

    with Provider() as provider, httpx.Client(trust_env=False) as client:
        url = f"{provider.open(mock_run)}/v1{mock_run.wire.route}"
        replies = [client.post(url, json=exchange.body) for exchange in cassette.exchanges]

    for exchange, reply in zip(cassette.exchanges, replies, strict=True):
        assert (exchange.reply.status, exchange.reply.body) == (reply.status_code, reply.content)
        assert set(exchange.reply.headers) <= set(reply.headers.items())


def replied(cassette: Cassette) -> list[tuple[bytes, list[bytes], bool]]:
    """What leaves for each recorded request: the head, the chunks of the body, and whether it ended as it should."""
    mock_run = mock_run_of(cassette)
    found = []
    with Provider() as provider:
        url = httpx.URL(provider.open(mock_run))
        for exchange in cassette.exchanges:
            with socket.create_connection((url.host, url.port or 0), timeout=5) as line:
                body = json.dumps(exchange.body).encode()
                path = f"{url.path}/v1{mock_run.wire.route}"
                line.sendall(
                    b"POST %b HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % (path.encode(), len(body)) + body
                )
                found.append(_received(line))
    return found


def _received(line: socket.socket) -> tuple[bytes, list[bytes], bool]:
    raw = b""
    while part := line.recv(65536):
        raw += part
        if raw.endswith(b"0\r\n\r\n"):
            break
    head, _, rest = raw.partition(b"\r\n\r\n")
    chunks = []
    while rest and not rest.startswith(b"0\r\n"):
        size, _, rest = rest.partition(b"\r\n")
        chunks.append(rest[: int(size, 16)])
        rest = rest[int(size, 16) + 2 :]
    return head, chunks, bool(rest)


def test_recorded_borders(tmp_path: Path) -> None:
    """A stream leaves in the chunks in which it came."""
    path = doctored(tmp_path, of=STREAM)
    chunked(path)
    cassette = read(path)

    for exchange, (_, chunks, ended) in zip(cassette.exchanges, replied(cassette), strict=True):
        body, (first, last) = exchange.reply.body, exchange.reply.ends
        assert [body[:first], body[first:last]] == chunks
        assert ended


def test_no_borders(tmp_path: Path) -> None:
    """A stream whose chunks were not kept leaves in one."""
    cassette = read(doctored(tmp_path, of=STREAM))

    assert [[exchange.reply.body] for exchange in cassette.exchanges] == [chunks for _, chunks, _ in replied(cassette)]


def test_recorded_break(tmp_path: Path) -> None:
    """A stream that broke off when it was recorded breaks off again, behind the same bytes."""
    path = doctored(
        tmp_path,
        lambda it: it["interactions"][1]["response"].update(body={"text": "data: {"}, broken=True),
        of=STREAM,
    )
    _, (head, chunks, ended) = replied(read(path))

    assert head.startswith(b"HTTP/1.1 200")
    assert ([b"data: {"], False) == (chunks, ended)


def test_plain_break(tmp_path: Path) -> None:
    """A plain reply that broke off is shorter than it says."""
    path = doctored(
        tmp_path, lambda it: it["interactions"][1]["response"].update(body={"text": '{"choices"'}, broken=True)
    )
    mock_run = mock_run_of(read(path))

    with Provider() as provider, httpx.Client(trust_env=False) as client:
        url = f"{provider.open(mock_run)}/v1{mock_run.wire.route}"
        first, second = read(path).exchanges
        client.post(url, json=first.body)
        with pytest.raises(httpx.RemoteProtocolError):
            client.post(url, json=second.body)


def test_recorded_error(tmp_path: Path) -> None:
    """An error is played with the headers that a client may act on, and holds no turn."""
    path = doctored(
        tmp_path,
        lambda it: it["interactions"][1]["response"].update(
            status=429,
            headers={"content-type": "application/json", "retry-after": "7"},
            body={"json": {"error": {"message": "slow down"}}},
        ),
    )
    cassette = read(path)
    mock_run = mock_run_of(cassette)

    with Provider() as provider, httpx.Client(trust_env=False) as client:
        url = f"{provider.open(mock_run)}/v1{mock_run.wire.route}"
        _, reply = [client.post(url, json=exchange.body) for exchange in cassette.exchanges]

    assert (429, "7", None) == (reply.status_code, reply.headers["retry-after"], cassette.exchanges[1].turn)


def judged(tmp_path: Path, *words: str) -> dict[str, str]:
    """Runs the requirement with these options; returns its verdicts by case, without passes."""
    file = tmp_path / "results.json"
    command = ["run", "--requirement", REQUIREMENT, "--quiet", *words]
    ran = CliRunner().invoke(main, [*command, "--json", str(file)])
    assert ran.exit_code in {0, 1}, ran.output
    verdicts: dict[str, set[str]] = {}
    for result in json.loads(file.read_text(encoding="utf-8"))["results"]:
        verdicts.setdefault(result["case"], set()).add(result["verdict"])
    return {name: "/".join(sorted(found)) for name, found in verdicts.items() if found != {"pass"}}


def test_broken_stream_is_judged(tmp_path: Path) -> None:
    """After a recorded break the loop has to report an error, as the reference does."""
    doctored(
        tmp_path / "mine",
        lambda it: it["interactions"][1]["response"].update(body={"text": "data: {"}, broken=True),
        of=STREAM,
    )

    assert {} == judged(tmp_path, "--cassettes", str(tmp_path / "mine"))


def test_ones_own_cassettes(tmp_path: Path) -> None:
    """A folder of one's own is played in place of the project's, under the names of its files."""
    doctored(tmp_path / "mine", name="my-own-plain")
    driver = f"python:{misreaders.__file__}:{misreaders.Trims.__name__}"

    found = judged(tmp_path, "--cassettes", str(tmp_path / "mine"), "--driver", driver)

    assert {"my-own@llama.cpp": "fail"} == found


@pytest.mark.parametrize(
    ("what", "words"),
    [("", "there is no cassette in it"), ("x", "is not the YAML that was meant")],
    ids=["empty", "broken"],
)
def test_own_cassettes_that_cannot_be_played(tmp_path: Path, what: str, words: str) -> None:
    """A folder without cassettes, or with one that cannot be played, ends the run before it begins."""
    folder = tmp_path / "openai-chat"
    folder.mkdir()
    if what:
        (folder / WHOLE.name).write_text("'", encoding="utf-8")
    ran = CliRunner().invoke(main, ["run", "--cassettes", str(tmp_path)])

    assert 2 == ran.exit_code
    assert words in ran.output


@pytest.fixture(name="failing")
def _failing(tmp_path: Path) -> Failing:
    """Runs a driver of ``misreaders`` on one wire; returns its verdicts by case, without passes."""
    words = ["--cell", "openai-chat/*/sync", "--driver"]
    return lambda driver: judged(tmp_path, *words, f"python:{misreaders.__file__}:{driver.__name__}")


def test_requests_that_never_come(failing: Failing) -> None:
    """A loop that stops while recorded replies are left has failed."""
    assert dict.fromkeys(WITH_CALLS, "fail") == failing(misreaders.Hasty)


def test_arguments_that_were_not_recorded(failing: Failing) -> None:
    """A loop that runs a tool with other arguments than the recorded ones has failed."""
    beyond = {
        one.name for one in PLAYED if any(not call.arguments.isascii() for turn in one.followed for call in turn.calls)
    }

    assert beyond
    assert dict.fromkeys(beyond, "fail") == failing(misreaders.AsciiOnly)


def test_ids_that_were_not_recorded(failing: Failing) -> None:
    """A loop that gives calls and results ids of its own has failed nothing: no service minds."""
    assert WITH_CALLS
    assert {} == failing(misreaders.OwnIds)


def test_answer_that_was_not_recorded(failing: Failing) -> None:
    """A loop that returns another text than the recorded one has failed, but for blanks at its ends."""
    ended = {one.name: last for one in PLAYED if (last := one.exchanges[-1].turn) and last.stopped == "end"}
    answered = {name for name, last in ended.items() if last.text and not last.text.endswith(" ")}

    assert answered
    assert dict.fromkeys(answered, "fail") == failing(misreaders.Trims)
