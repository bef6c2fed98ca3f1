"""Captures: cases that the official SDKs follow on each wire, and reasons not to record."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from looptck.bench.cases import Record, cases
from looptck.cassettes.file_format import Interaction
from looptck.commands.recording.capture import CaptureTarget, NotRecorded, capture
from looptck.commands.recording.traffic_log import TrafficLog, traffic_log
from looptck.commands.recording.upstreams import Upstream
from looptck.provider.http import HttpReply, chunked, head
from looptck.provider.toolbox import Raises
from looptck.values.history import Answered, Asked
from looptck.values.turns import Call, Turn, calls, says
from looptck.wires import WIRES
from meta.recording.fake_upstream import EVENTS, FakeUpstream, hangs, stream, whole
from meta.recording.targets import events, said, target

PATIENCE = 20.0
CELLS = [(wire, streams) for wire in WIRES for streams in (False, True)]


@pytest.fixture(params=CELLS, ids=lambda cell: f"{cell[0]}-{'stream' if cell[1] else 'plain'}")
def cell(request: pytest.FixtureRequest) -> tuple[str, bool]:
    """Each wire, plain and streamed."""
    wire, streams = request.param
    return wire, streams


def recorded(
    one: CaptureTarget, fake_upstream: FakeUpstream, upstream: Upstream, log: TrafficLog
) -> tuple[Interaction, ...]:
    """The interactions of a case that the fake upstream plays."""
    fake_upstream.plays(one.case, one.wire)
    return capture(one, upstream, log, PATIENCE).interactions


def refused(one: CaptureTarget, upstream: Upstream, log: TrafficLog) -> str:
    """Why there is no recording."""
    with pytest.raises(NotRecorded) as error:
        capture(one, upstream, log, PATIENCE)
    return str(error.value)


@pytest.mark.parametrize(
    "name", ["no-call", "one-call", "chain", "parallel-calls", "text-before-calls", "beyond-ascii"]
)
def test_the_turns_are_those_of_the_script(
    name: str, cell: tuple[str, bool], fake_upstream: FakeUpstream, upstream: Upstream, log: TrafficLog
) -> None:
    """A server that follows the script is recorded turn by turn, and the judge accepts the requests."""
    wire, streams = cell
    one = target(name, wire, streams=streams)

    interactions = recorded(one, fake_upstream, upstream, log)

    turns = [WIRES[wire].turn(interaction.body.decode(), streams) for interaction in interactions]
    scripted = [step.turn for step in one.case.steps if step.turn]
    assert [turn.text for turn in scripted] == [turn.text for turn in turns]
    assert [_calls(turn) for turn in scripted] == [_calls(turn) for turn in turns]


def _calls(turn: Turn) -> list[tuple[str, Any]]:
    return [(call.tool, json.loads(call.arguments)) for call in turn.calls]


def test_results_are_the_toolboxes(
    cell: tuple[str, bool], fake_upstream: FakeUpstream, upstream: Upstream, log: TrafficLog
) -> None:
    """The model hears what the case's tools return and raise, and of a tool without a handler."""
    wire, streams = cell
    steps = cases()["parallel-calls"].steps
    one = target(
        "parallel-calls", wire, streams=streams, behaviours={"weather": (Raises("no wind"),)}, unhandled=("add",)
    )
    assert steps == one.case.steps

    last = recorded(one, fake_upstream, upstream, log)[-1]

    request = WIRES[wire].service(True).read(last.request)
    asked = {item.id: item.tool for item in request.items if isinstance(item, Asked)}
    answers = {asked[item.id]: item for item in request.items if isinstance(item, Answered)}
    assert "Error: the tool 'weather' failed: RuntimeError: no wind" == answers["weather"].text
    assert (wire == "anthropic-messages") == answers["weather"].failed


def test_unknown_tool_and_bad_arguments(
    cell: tuple[str, bool], fake_upstream: FakeUpstream, upstream: Upstream, log: TrafficLog
) -> None:
    """A call that no tool can run is answered in words."""
    wire, streams = cell
    raw = "{}" if wire == "anthropic-messages" else "[1]"
    fake_upstream.replies(
        said(wire, calls(Call("nope", "{}", "call_1"), Call("ping", raw, "call_2")), streams=streams),
        said(wire, says("Well."), streams=streams),
    )

    last = capture(target(wire=wire, streams=streams), upstream, log, PATIENCE).interactions[-1]

    texts = [answer.text for answer in WIRES[wire].service(True).read(last.request).answers]
    known = "result 1 of ping" if wire == "anthropic-messages" else "Error: the arguments of 'ping' are no JSON object"
    assert ["Error: there is no tool 'nope'", known] == texts


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        (
            "required",
            {"openai-chat": "required", "openai-responses": "required", "anthropic-messages": {"type": "any"}},
        ),
        ("none", {"openai-chat": "none", "openai-responses": "none", "anthropic-messages": {"type": "none"}}),
        (
            "weather",
            {
                "openai-chat": {"type": "function", "function": {"name": "weather"}},
                "openai-responses": {"type": "function", "name": "weather"},
                "anthropic-messages": {"type": "tool", "name": "weather"},
            },
        ),
    ],
)
def test_tool_choice(
    choice: str,
    wanted: dict[str, Any],
    cell: tuple[str, bool],
    fake_upstream: FakeUpstream,
    upstream: Upstream,
    log: TrafficLog,
) -> None:
    """A forced choice is in the first request, in the wire's words; ``none`` is in all."""
    wire, streams = cell
    one = target(wire=wire, streams=streams, record=Record(tool_choice=choice))

    first, second = (interaction.request for interaction in recorded(one, fake_upstream, upstream, log))

    assert wanted[wire] == first["tool_choice"]
    assert (choice == "none") == ("tool_choice" in second)


@pytest.mark.parametrize(("wire", "member"), [("openai-chat", "stop"), ("anthropic-messages", "stop_sequences")])
def test_stop_sequence(
    wire: str, member: str, fake_upstream: FakeUpstream, upstream: Upstream, log: TrafficLog
) -> None:
    """A stop sequence is in every request, if the wire has them."""
    one = target(wire=wire, record=Record(stop="..."))

    assert [["..."]] * 2 == [interaction.request[member] for interaction in recorded(one, fake_upstream, upstream, log)]


def test_cut_turn(cell: tuple[str, bool], fake_upstream: FakeUpstream, upstream: Upstream, log: TrafficLog) -> None:
    """A turn that is to be cut has room for so many tokens, and nothing is asked after it."""
    wire, streams = cell
    one = target("call-cut-by-length", wire, streams=streams)
    tokens = Upstream("it", fake_upstream.base_url, "m", (wire,), tokens={one.case.name: [17]})
    member = {"openai-chat": "max_tokens", "openai-responses": "max_output_tokens", "anthropic-messages": "max_tokens"}

    assert [17] == [each.request[member[wire]] for each in recorded(one, fake_upstream, tokens, log)]
    assert [16] == [each.request[member[wire]] for each in recorded(one, fake_upstream, upstream, log)]


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses"])
def test_vendor_is_asked_in_its_newest_words(wire: str, fake_upstream: FakeUpstream, log: TrafficLog) -> None:
    """OpenAI's own reasoning models refuse the older words, which other servers want."""
    vendor = Upstream("api.openai.com", "https://api.openai.com/v1", "m", (wire,))
    member = {"openai-chat": "max_completion_tokens", "openai-responses": "max_output_tokens"}

    first = recorded(target(wire=wire), fake_upstream, vendor, log)[0].request

    assert 4096 == first[member[wire]]
    assert not {"max_tokens", "parallel_tool_calls"} & set(first)


def test_chunks_are_those_of_the_upstream(fake_upstream: FakeUpstream, upstream: Upstream, log: TrafficLog) -> None:
    """A stream's borders are kept, though one of them lies inside of a character."""
    sent = b"".join(events("openai-chat", says("It is 18 °C.")))
    at = sent.index(b"\xb0")
    fake_upstream.replies(stream(sent[:at], sent[at:]))

    one = capture(target(), upstream, log, PATIENCE)

    assert (at, len(sent)) == one.chunks[0].ends
    assert sent == one.interactions[0].body


def test_plain_reply_has_no_chunks(fake_upstream: FakeUpstream, upstream: Upstream, log: TrafficLog) -> None:
    """A plain reply's borders are no borders of what is written, which is compact."""
    fake_upstream.plays(target().case, "openai-chat")

    assert () == capture(target(streams=False), upstream, log, PATIENCE).chunks


def test_compressed_reply(
    cell: tuple[str, bool], fake_upstream: FakeUpstream, upstream: Upstream, log: TrafficLog
) -> None:
    """A compressed reply is kept as what it says."""
    wire, streams = cell
    body = b"".join(events(wire, says("Hi."))) if streams else json.dumps(_body(wire)).encode()
    kind = "text/event-stream" if streams else "application/json"
    fake_upstream.replies(whole(200, gzip.compress(body), [("content-type", kind), ("content-encoding", "gzip")]))

    (one,) = capture(target(wire=wire, streams=streams), upstream, log, PATIENCE).interactions

    assert says("Hi.").text == WIRES[wire].turn(one.body.decode(), streams).text
    assert {"content-type": kind} == one.headers


def _body(wire: str) -> Any:
    return json.loads(said(wire, says("Hi."), streams=False).parts[0].partition(b"\r\n\r\n")[2])  # type: ignore[union-attr]


def test_crlf_stream(fake_upstream: FakeUpstream, upstream: Upstream, log: TrafficLog) -> None:
    """A stream whose lines end in CRLF is kept with its line ends."""
    sent = b"".join(events("openai-chat", says("Hi."))).replace(b"\n", b"\r\n")
    fake_upstream.replies(stream(sent))

    assert sent == capture(target(), upstream, log, PATIENCE).interactions[0].body


def test_broken_stream(
    cell: tuple[str, bool], fake_upstream: FakeUpstream, upstream: Upstream, log: TrafficLog
) -> None:
    """A stream that breaks off ends the recording, and is kept as far as it came; a plain reply is none."""
    wire, streams = cell
    first = said(wire, calls(Call("ping", "{}", "call_1")), streams=streams)
    sent = events(wire, says("It is all there."))[:3]
    fake_upstream.replies(
        first, stream(*sent, headers=EVENTS if streams else [("content-type", "application/json")], breaks=True)
    )
    one = target(wire=wire, streams=streams)

    if not streams:
        assert "reply 2 broke off" == refused(one, upstream, log)
        return
    whole_one, broken = capture(one, upstream, log, PATIENCE).interactions
    assert (False, True) == (whole_one.broken, broken.broken)
    assert b"".join(sent) == broken.body


HTML = HttpReply(whole(200, b"<html>", [("content-type", "text/html")]).parts)
NEVER = [
    pytest.param(
        whole(401, b'{"error": {"message": "No."}}'), 'reply 1 is 401: {"error": {"message": "No."}}', id="401"
    ),
    pytest.param(whole(429, b"{}", [("retry-after", "7")]), "reply 1 is 429: {}", id="429"),
    pytest.param(HTML, "reply 1 is text/html, not {kind}", id="HTML"),
    pytest.param(None, "reply 1 never came: RemoteProtocolError: Server disconnected", id="nothing"),
    pytest.param(whole(200, b"{}", []), "reply 1 is of no type, not {kind}", id="no type"),
]


@pytest.mark.parametrize(("reply", "words"), NEVER)
def test_no_recording(
    reply: HttpReply | None,
    words: str,
    cell: tuple[str, bool],
    fake_upstream: FakeUpstream,
    upstream: Upstream,
    log: TrafficLog,
) -> None:
    """A reply that is not a model's is not recorded, for a reason that is shown; no request is repeated."""
    wire, streams = cell
    fake_upstream.replies(reply)

    why = refused(target(wire=wire, streams=streams), upstream, log)

    assert why.startswith(words.replace("{kind}", "text/event-stream" if streams else "application/json"))
    assert 1 == len(fake_upstream.seen)


def test_no_turn(cell: tuple[str, bool], fake_upstream: FakeUpstream, upstream: Upstream, log: TrafficLog) -> None:
    """A reply of the right type that holds no turn is not recorded."""
    wire, streams = cell
    fake_upstream.replies(stream(b"data: {}\n\n") if streams else whole(200, b"{}"))

    assert refused(target(wire=wire, streams=streams), upstream, log)


def test_endless_model(
    cell: tuple[str, bool], fake_upstream: FakeUpstream, upstream: Upstream, log: TrafficLog
) -> None:
    """A model that goes on asking for tools is left in the end."""
    wire, streams = cell
    fake_upstream.replies(said(wire, calls(Call("ping", "{}", "call_1")), streams=streams))

    why = refused(target(wire=wire, streams=streams), upstream, log)

    assert "Endless: the model still makes calls after 6 requests" == why


def test_hang(fake_upstream: FakeUpstream, upstream: Upstream) -> None:
    """A model that says nothing any more is given up, and its silence is no break."""
    fake_upstream.replies(hangs(head(200, EVENTS, length=None), chunked(events("openai-chat", says("Hi."))[0])))

    with traffic_log(fake_upstream.base_url, 0.2) as impatient:
        assert "reply 1 was not complete after 0.2 s" == refused(target(), upstream, impatient)
