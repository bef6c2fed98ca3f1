"""The canary: a secret in every place of a recording, and none of them in a file or on the terminal."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from looptck.bench.cases import Case, Record, cases
from looptck.commands.recording import record as recording
from looptck.commands.recording.record import RecordOptions, record
from looptck.commands.recording.traffic_log import TrafficLog, traffic_log
from looptck.provider.http import HttpReply, HttpRequest
from looptck.values.turns import Call, calls, says
from looptck.wires import WIRES
from meta.recording.fake_upstream import EVENTS, JSON, Answer, FakeUpstream, stream, whole
from meta.recording.targets import events, said, shares

KEY = "lt-canary-key-5f0c1b7e93"
QUERY = "lt-canary-query-88d2"
ORGANISATION = "org-canary77aa12"
PROJECT = "proj_canary55bb34"
COOKIE = "session=canary-cookie-90aa"
REQUEST_ID = "req_canary011CSHoEeqs"
MAIL = "canary.jane@acme-corp.com"
ADDRESS = "198.18.44.203"
ACCOUNT = "acct_canary9182"
CANARIES = {
    "key": KEY,
    "query": QUERY,
    "organisation": ORGANISATION,
    "project": PROJECT,
    "cookie": COOKIE,
    "request id": REQUEST_ID,
    "mail": MAIL,
    "address": ADDRESS,
    "account": ACCOUNT,
}
PRIVATE = [
    ("set-cookie", COOKIE),
    ("x-request-id", REQUEST_ID),
    ("request-id", REQUEST_ID),
    ("openai-organization", ORGANISATION),
    ("cf-ray", KEY),
    ("server", ADDRESS),
]
"""Headers of replies."""
CELLS = [(wire, streams) for wire in WIRES for streams in (False, True)]


@pytest.fixture(params=CELLS, ids=lambda cell: f"{cell[0]}-{'stream' if cell[1] else 'plain'}")
def cell(request: pytest.FixtureRequest) -> tuple[str, bool]:
    """Each wire, plain and streamed."""
    wire, streams = request.param
    return wire, streams


@pytest.fixture(scope="module")
def asking(served: FakeUpstream) -> Iterator[TrafficLog]:
    """A traffic log in front of an address with a secret in it."""
    with traffic_log(f"{served.base_url}?key={QUERY}", 20.0) as one:
        yield one


@pytest.fixture
def case(monkeypatch: pytest.MonkeyPatch, asking: TrafficLog) -> Case:
    """A scenario whose question holds secrets; the environment holds the others."""
    for name in ("LOOPTCK_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", ORGANISATION)
    monkeypatch.setenv("OPENAI_PROJECT_ID", PROJECT)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"cookie: {COOKIE}")
    shares(monkeypatch, asking)
    question = f"Who is {MAIL}, with the key {KEY} at {ADDRESS}?"
    case = replace(cases()["one-call"], question=question, record=Record())
    monkeypatch.setattr(recording, "cases", lambda: {"canary": replace(case, name="canary")})
    return case


def private(reply: HttpReply, kind: list[tuple[str, str]]) -> HttpReply:
    """The same reply with private headers."""
    first = reply.parts[0]
    assert isinstance(first, bytes)
    line, _, rest = first.partition(b"\r\n")
    extra = "".join(f"{name}: {value}\r\n" for name, value in PRIVATE).encode()
    return HttpReply([line + b"\r\n" + extra + rest, *reply.parts[1:]])


def gossip(wire: str, text: str, *, streams: bool) -> HttpReply:
    """A reply that says this text, and secrets in members that no documentation names."""
    more = {"request_id": REQUEST_ID, "organization": ORGANISATION, "account": ACCOUNT, "key": KEY, "from": ADDRESS}
    added = json.dumps(more)[1:]
    turn = says(text)
    if streams:
        encoded = [one.replace(b"data: {", f"data: {{{added[:-1]},".encode(), 1) for one in events(wire, turn)]
        return private(stream(f": {KEY} {MAIL}\n\n".encode(), *encoded), EVENTS)
    body = said(wire, turn, streams=False).parts[0]
    assert isinstance(body, bytes)
    plain = json.loads(body.partition(b"\r\n\r\n")[2])
    return private(whole(200, json.dumps({**plain, **more}).encode()), JSON)


def recorded(
    wire: str, answer: Answer, fake_upstream: FakeUpstream, into: Path, *, streams: bool
) -> tuple[int, list[str]]:
    """Status and lines of a recording of the canary, whose requests carry it."""
    fake_upstream.seen.clear()
    fake_upstream.answer = answer
    lines: list[str] = []
    options = RecordOptions(
        upstream=f"{fake_upstream.base_url}?key={QUERY}",
        model="looptck-model",
        wires=[wire],
        mode="stream" if streams else "plain",
        into=into,
        timeout=20.0,
    )
    return record(options, lines.append), lines


def left(into: Path, lines: list[str]) -> list[str]:
    """The canaries that are to be seen in the files or on the terminal."""
    text = "\n".join([*lines, *(path.read_text(encoding="utf-8") for path in into.rglob("*") if path.is_file())])
    encoded = [base64.b64encode(secret.encode()).decode()[:12] for secret in CANARIES.values()]
    parts = [secret.partition("canary")[2] for secret in CANARIES.values() if "canary" in secret]
    return [secret for secret in (*CANARIES.values(), *encoded, *filter(None, parts)) if secret in text]


def test_nothing_is_left(case: Case, cell: tuple[str, bool], fake_upstream: FakeUpstream, tmp_path: Path) -> None:
    """No secret of a header, query, body, cookie, id or comment reaches a file, and the recording is written."""
    wire, streams = cell
    first = said(wire, calls(Call("weather", '{"city": "Paris"}', "call_1")), streams=streams)
    replies = [private(first, []), gossip(wire, "Ask." if streams else f"Ask {MAIL} with {KEY}.", streams=streams)]

    status, lines = recorded(wire, lambda _: replies.pop(0), fake_upstream, tmp_path, streams=streams)

    sent = [json.dumps([*request.headers.items(), request.path]) for request in fake_upstream.seen]
    assert all(KEY in one and QUERY in one for one in sent)
    assert 0 == status, lines
    assert (tmp_path / wire / f"canary-{'stream' if streams else 'plain'}.yaml").is_file()
    assert [] == left(tmp_path, lines)


def test_error_message(case: Case, cell: tuple[str, bool], fake_upstream: FakeUpstream, tmp_path: Path) -> None:
    """An error that quotes the key is reported without it, and leaves no file."""
    wire, streams = cell
    words = f"Incorrect API key provided: {KEY}, of {MAIL}, {ORGANISATION}"
    body = json.dumps({"error": {"message": words, "type": "auth"}, "request_id": REQUEST_ID}).encode()

    status, lines = recorded(wire, lambda _: whole(401, body), fake_upstream, tmp_path, streams=streams)

    assert 1 == status
    assert "failed: reply 1 is 401" in lines[0]
    assert [] == left(tmp_path, lines)
    assert [] == list(tmp_path.rglob("*.yaml"))


SEEN = 3
"""Letters of a secret that may occur anywhere."""


def pieces_in(into: Path) -> list[str]:
    """All strings of the recorded events."""
    text = "".join(path.read_text(encoding="utf-8") for path in into.rglob("*.yaml"))
    return re.findall(r"[\w-]+", text)


@pytest.mark.parametrize("wire", list(WIRES))
def test_split_over_two_deltas(wire: str, case: Case, fake_upstream: FakeUpstream, tmp_path: Path) -> None:
    """A secret that only a reader puts together is masked in all its pieces, and the recording is written."""
    turn = says(f"The key is {KEY}, keep it.")
    assert not any(KEY.encode() in event for event in events(wire, turn)[:3])

    status, lines = recorded(wire, lambda _: stream(*events(wire, turn)), fake_upstream, tmp_path, streams=True)

    assert (0, []) == (status, left(tmp_path, lines))
    assert not any(piece in KEY and len(piece) > SEEN for piece in pieces_in(tmp_path))


@pytest.mark.parametrize("wire", list(WIRES))
def test_split_over_the_arguments_of_a_call(wire: str, case: Case, fake_upstream: FakeUpstream, tmp_path: Path) -> None:
    """The same in the fragments of a call's arguments, which the next request sends back whole."""
    turn = calls(Call("note", json.dumps({"text": f"a long note and then {KEY}"}), "call_1"))
    replies = [stream(*events(wire, turn)), said(wire, says("Kept."), streams=True)]

    status, lines = recorded(wire, lambda _: replies.pop(0), fake_upstream, tmp_path, streams=True)

    assert (0, []) == (status, left(tmp_path, lines))
    assert not any(piece in KEY and len(piece) > SEEN for piece in pieces_in(tmp_path))


def test_echo(case: Case, fake_upstream: FakeUpstream, tmp_path: Path) -> None:
    """A server that sends back all that it was sent, as text, headers and all."""

    def echo(request: HttpRequest) -> HttpReply:
        words = json.dumps([request.path, request.headers, request.body.decode()])
        return said("openai-chat", says(words), streams=False)

    status, lines = recorded("openai-chat", echo, fake_upstream, tmp_path, streams=False)

    assert KEY in json.dumps([dict(request.headers) for request in fake_upstream.seen])
    assert 0 == status
    assert [] == left(tmp_path, lines)
