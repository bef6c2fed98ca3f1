"""The judge of corpora counts what it reads, names what it cannot judge, and says why the rest was not right."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from looptck.values.turns import Thinking, refuses, turn
from tools.corpus import records
from tools.corpus.__main__ import main
from tools.corpus.corpora import ANSWER, CALLS, REQUESTS, Row, body, row, written
from tools.corpus.judged import judge
from tools.corpus.records import BadLine, Record, Skipped
from tools.corpus.tally import Tally


def run(*arguments: object) -> Result:
    """What the command makes of these arguments."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def tallied(path: Path, *rows: Row) -> Tally:
    """What is found in these records."""
    tally = Tally(examples=9)
    for record in records.records(written(path / "some.jsonl", *rows)):
        assert isinstance(record, Record)
        judge(record, tally)
    return tally


def found(path: Path, *rows: Row) -> set[tuple[str, str]]:
    """What happened in these records, and the reasons."""
    return {(what, reason) for what, reason, _ in tallied(path, *rows).reasons}


# -- what is right ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", REQUESTS)
def test_good_traffic_is_right(tmp_path: Path, api: str, stream: bool) -> None:
    """Good requests are accepted, good replies are read twice and alike, and the next request is a good one."""
    tally = tallied(tmp_path, row("a", api, ANSWER, stream=stream), row("b", api, CALLS, stream=stream))

    ((group, counts),) = tally.counts.items()
    assert f"{records.WIRES[api]} official {'stream' if stream else 'plain'}" == group
    assert {"replies": 2, "read": 2, "read by kit": 2, "same": 2, "next": 1, "next ok": 1} | {
        "answered": 2,
        "accepted": 2,
    } == counts
    assert not tally.reasons


@pytest.mark.parametrize("stream", [False, True])
def test_thoughts_are_returned(tmp_path: Path, stream: bool) -> None:
    """The next request of a turn with thoughts is judged by the service that has thought them."""
    thinks = turn(Thinking("hm"), *CALLS.pieces)

    assert not found(
        tmp_path,
        *(row(api, api, thinks, stream=stream, official=False) for api in ("openai_responses", "anthropic_messages")),
    )


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (base64.b64encode(body("openai_chat", ANSWER, stream=True).encode()).decode(), "vcr"),
        (
            "\n".join(
                line[6:] for line in body("openai_chat", ANSWER, stream=True).split("\n") if line.startswith("data: {")
            ),
            "fixture-chunks",
        ),
    ],
)
def test_other_forms_of_bodies_are_known(tmp_path: Path, text: str, format: str) -> None:
    """Bodies in base64 and payloads without their event lines are what they stand for."""
    tally = tallied(tmp_path, row("a", stream=True, reply=text, format=format))

    assert 1 == tally.counts["openai-chat official stream"]["same"]


def test_who_answered_is_told_apart(tmp_path: Path) -> None:
    """The vendor's own host is official, or the vendor where no host is known; another host never is."""
    rows = [
        row("a", host="", provider="anthropic"),
        row("b", host="api.openai.com", provider="looptck"),
        row("c", host="localhost", provider="openai"),
        row("d", host="", provider="looptck"),
    ]
    counts = tallied(tmp_path, *rows).counts

    assert (2, 2) == tuple(counts[f"openai-chat {who} plain"]["replies"] for who in ("official", "compatible"))


# -- what is not -----------------------------------------------------------------------------------------------------

ORPHAN = {"model": "m", "messages": [{"role": "tool", "tool_call_id": "a", "content": "x"}]}
NO_END = body("openai_chat", ANSWER, stream=True).replace('"stop"', "null")
NO_MARK = '{"choices": [{"message": {"content": "x"}, "finish_reason": "eos"}]}'
NAMELESS = body("openai_chat", CALLS, stream=False).replace('"id": "call_1a"', '"id": ""')
TWICE = body("openai_chat", CALLS, stream=False).replace('"name": "ping"', '"name": "a b"')
REASONS: dict[str, tuple[Row, set[tuple[str, str]]]] = {
    "left-out": (
        row("a", reply="<elided 4000 base64 chars>"),
        {("left out", "the corpus left the body of the reply out")},
    ),
    "no-turn": (
        row("a", stream=True, reply=NO_END),
        {
            (
                "the reference reads no turn",
                "StreamBroken: the stream ended before a finish_reason came; nothing of the turn was used",
            ),
            (
                "the kit reads no turn",
                "NoTurn: no finish_reason came; one of stop, tool_calls, length, content_filter was expected",
            ),
        },
    ),
    "no-json": (
        row("a", reply="No."),
        {
            ("the reference reads no turn", "MalformedReply: POST / sent a reply that is not JSON"),
            ("the kit reads no turn", "NoTurn: JSON was expected"),
        },
    ),
    "kit-alone": (
        row("a", reply=NAMELESS),
        {
            (
                "the reference reads no turn",
                "MalformedReply: a call with the name 'weather' and the id '' cannot be answered; both are needed",
            )
        },
    ),
    "reference-alone": (
        row("a", reply=NO_MARK),
        {
            (
                "the kit reads no turn",
                "NoTurn: a finish_reason that is one of stop, tool_calls, length, content_filter was expected",
            )
        },
    ),
    "next-request": (
        row("a", reply=TWICE),
        {("the judge refuses the reference's next request", "names-are-legal")},
    ),
    "refused": (
        row("a", asked=ORPHAN),
        {("the judge refuses what was answered", "results-answer-a-call")},
    ),
    "refused-by-both": (
        row("a", asked=ORPHAN, status=400, reply='{"error": {"message": "No."}}'),
        {("the judge refuses what was refused", "results-answer-a-call")},
    ),
    "accepted": (
        row("a", status=400, reply='{"error": {"message": "No."}}'),
        {("the judge accepts what was refused", "status 400")},
    ),
    "refused-beside-the-key": (
        row("a", asked=ORPHAN, status=401, reply='{"error": {"message": "No."}}'),
        {("the judge refuses what was answered with 401", "results-answer-a-call")},
    ),
    "leaning": (
        row("a", "openai_responses", asked={"model": "m", "input": "go", "previous_response_id": "resp_1"}),
        {("the request leans on what was answered before it", "previous-response-is-kept")},
    ),
}


@pytest.mark.parametrize("name", REASONS)
def test_each_reason_is_told(tmp_path: Path, name: str) -> None:
    """What is not right is counted under what happened, with the reason and nothing else."""
    record, reasons = REASONS[name]

    assert reasons == found(tmp_path, record)


@pytest.mark.parametrize(("beta", "refused"), [("mcp-client-2025-04-04", 0), ("mcp-client-2025-11-20", 1)])
def test_headers_of_requests_count(tmp_path: Path, beta: str, refused: int) -> None:
    """A request is judged with the headers that were recorded with it."""
    server = {"type": "url", "name": "m", "url": "https://m.example/sse"}
    asked = {"headers": {"Anthropic-Beta": beta}, "body": {**REQUESTS["anthropic_messages"], "mcp_servers": [server]}}
    record = {**row("a", "anthropic_messages", official=True), "request": asked}

    assert refused == tallied(tmp_path, record).counts["anthropic-messages official plain"]["refused"]


@pytest.mark.parametrize(
    ("changes", "declared", "why"),
    [
        ({"host": "openrouter.ai"}, 1, ("a dialect accepts it", "openrouter: parameters-are-known")),
        ({"host": "gateway.example"}, 1, ("a dialect accepts it", "openrouter: parameters-are-known")),
        ({"host": "api.groq.com"}, 0, ("the judge refuses what was answered", "parameters-are-known")),
        ({"official": True}, 0, ("the judge refuses what was answered", "parameters-are-known")),
    ],
    ids=["its-own-host", "unknown-host", "host-of-another", "official"],
)
def test_a_declared_reason_refuses_no_answered_request(
    tmp_path: Path, changes: Row, declared: int, why: tuple[str, str]
) -> None:
    """The dialect of the host declares it; for a host without one, any dialect does; for the vendor, none."""
    asked = {**REQUESTS["openai_chat"], "transforms": []}
    tally = tallied(tmp_path, row("a", asked=asked, **{"official": False, **changes}))

    (counts,) = tally.counts.values()
    assert (declared, 1 - declared) == (counts["declared"], counts["refused"])
    assert {why} == {(what, reason) for what, reason, _ in tally.reasons}


def test_an_undeclared_reason_is_listed(tmp_path: Path) -> None:
    """A dialect declares single reasons: a request that breaks another rule too is listed with it."""
    asked = {**ORPHAN, "transforms": []}

    assert {("the judge refuses what was answered", "parameters-are-known")} == found(
        tmp_path, row("a", asked=asked, host="openrouter.ai", official=False)
    )


def test_differences_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the two understand something else, it is said in what."""
    monkeypatch.setattr("tools.corpus.judged.read", lambda *_: refuses("No.").numbered(1))

    assert ("the two understood different turns", "text, calls, stop") in found(tmp_path, row("a", turn=CALLS))


def test_errors_are_told_by_the_reference(tmp_path: Path) -> None:
    """A reply with an error status is an error to the reference, whatever stands in it."""
    tally = tallied(tmp_path, *(row(text, status=500, reply=text, stream=True) for text in ("", "{}", "data: x\n\n")))

    assert (3, 3) == tuple(tally.counts["openai-chat official stream"][name] for name in ("errors", "told"))


def test_a_reply_alone_is_judged(tmp_path: Path) -> None:
    """A record without a request counts for its reply alone."""
    counts = tallied(tmp_path, {**row("a"), "request": None}).counts["openai-chat official plain"]

    assert (1, 0) == (counts["same"], counts["answered"])


# -- lines and files -------------------------------------------------------------------------------------------------


def without(name: str) -> Row:
    """A record that lacks a member."""
    return {key: value for key, value in row("a").items() if key != name}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "is no JSON"),
        ("[]", "is no record"),
        ("[" * 900, "is no JSON"),
        ("[" * 400_000, "is no JSON"),
        ({**row("a"), "api": "smoke_signals"}, "is no record: /api"),
        ({**row("a"), "response": {"status": "200", "body": ""}}, "is no record: /response/status"),
        (without("response"), "is no record: /"),
        ("x" * 1_000_000, "is longer than 500000 bytes"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: Any, why: str) -> None:
    """A line that is no record is named with its file and number, and those after it are judged."""
    monkeypatch.setattr(records, "LONGEST", 500_000)
    path = written(tmp_path / "some.jsonl", {**row("a"), "api": "gemini"}, line, {**row("b"), "api": "gemini"})

    first, bad, last = records.records(path)

    assert isinstance(bad, BadLine)
    assert (Skipped("gemini"), Skipped("gemini")) == (first, last)
    assert 2 == bad.line
    assert bad.why.startswith(why)


@pytest.mark.parametrize("keep", [0.5, 0.0])
def test_a_broken_archive_is_named(tmp_path: Path, keep: float) -> None:
    """A file that cannot be unpacked to its end is named where it breaks, and other files are judged."""
    broken = written(tmp_path / "a.jsonl.gz", *(row(str(n), turn=CALLS) for n in range(50)))
    broken.write_bytes(broken.read_bytes()[: int(len(broken.read_bytes()) * keep)] or b"no archive")
    written(tmp_path / "b.jsonl", row("b"))

    result = run(tmp_path)

    assert 1 == result.exit_code
    assert f"{broken}:" in result.stderr
    assert "cannot be read" in result.stderr
    assert "1 lines could not be judged" in result.stderr
    assert "openai-chat official plain" in result.stdout


def test_a_record_that_breaks_the_kit_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that nobody announced is named with its record, and the run goes on."""
    monkeypatch.setattr("tools.corpus.judged.decoded", lambda record, _: 1 / len(record.id))
    path = written(tmp_path / "a.jsonl", row(""), row("b", reply="<elided 9 base64 chars>"))

    result = run(path)

    assert 1 == result.exit_code
    assert f"{path}:1: crashes looptck: ZeroDivisionError" in result.stderr
    assert "the corpus left the body of the reply out" in result.stdout


def test_a_clean_corpus(tmp_path: Path) -> None:
    """The command prints two tables and the reasons with examples, skips what is no wire, and is content."""
    written(tmp_path / "a.jsonl.gz", row("good"), row("bad", asked=ORPHAN), {**row("c"), "api": "gemini"})
    (tmp_path / "notes.txt").write_text("no corpus")

    result = run(tmp_path, "--examples", 1)

    assert 0 == result.exit_code, result.output
    assert "gemini: 1 skipped" in result.stdout
    assert "      1  results-answer-a-call  (openai-chat official plain) [bad]" in result.stdout
    assert ["replies", "requests"] == [
        line.split()[0] for line in result.stdout.split("\n") if "  replies  " in line or "  answered  " in line
    ]


@pytest.mark.parametrize("arguments", [(), ("nowhere",), ("empty",)])
def test_a_wrong_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]) -> None:
    """No path, one that is not there, and a folder without records are mistakes of the caller."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)

    assert 2 == run(*arguments).exit_code
