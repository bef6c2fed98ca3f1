"""Traces: what went to and fro in a run that fails stands in a folder as files, and stays there whatever it holds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from looptck.bench.checks import Check
from looptck.bench.client import Reply
from looptck.bench.run import Run
from looptck.catalogue.requirements import catalogue
from looptck.catalogue.yaml_files import BadFile
from looptck.cli.group import main
from looptck.drivers.case_message import API_KEY
from looptck.failures import trace
from looptck.failures.failure import render_failure
from looptck.suite.verdict_of import result_of
from looptck.values.cell import Cell
from looptck.values.history import Request
from looptck.values.outcome import Value
from looptck.values.transcript import Received, Transcript

FLAWED = "python:meta.kit.flawed:TakesCallsForAnswers"


def traced(folder: Path, cell: str) -> tuple[str, list[Path]]:
    """What a run prints that writes its traces there, and the folders that it leaves."""
    words = ["run", "--driver", FLAWED, "--requirement", "call-runs-its-tool-once", "--case", "one-call"]
    done = CliRunner().invoke(main, [*words, "--cell", cell, "--trace", str(folder)])
    return done.output, sorted(one for one in folder.iterdir() if one.is_dir())


@pytest.mark.parametrize("stream", [False, True])
def test_a_run_that_fails_leaves_its_traffic(tmp_path: Path, stream: bool) -> None:
    """Request, reply, tools, chunks, outcome and the text of the failure, in a folder that the block names."""
    output, (folder,) = traced(tmp_path / "traces", f"openai-chat/{'stream' if stream else 'plain'}/sync")
    reply = {"reply-1.stream.txt", "reply-1.writes.json"} if stream else {"reply-1.body.txt"}
    request = {"request-1.json", "request-1.headers.txt"}
    others = {"tools.json", "chunks.json", "outcome.json", "failures.txt"}

    assert f"  trace: {folder}" in output
    assert {*reply, *request, *others} == {one.name for one in folder.iterdir()}
    assert stream == json.loads((folder / "request-1.json").read_bytes()).get("stream", False)
    assert [] == json.loads((folder / "tools.json").read_bytes())
    assert "value" == json.loads((folder / "outcome.json").read_bytes())["kind"]
    assert "FAIL  call-runs-its-tool-once" in (folder / "failures.txt").read_text("utf-8")
    body = folder / ("reply-1.stream.txt" if stream else "reply-1.body.txt")
    assert b'"tool_calls"' in body.read_bytes()


def test_a_second_run_leaves_nothing_of_the_first(tmp_path: Path) -> None:
    """The folders of an earlier run go, and files of other people are never touched."""
    folder = tmp_path / "traces"
    _, before = traced(folder, "openai-chat/*/sync")
    (folder / "notes").mkdir()
    _, after = traced(folder, "openai-chat/plain/sync")

    assert 2 == len(before)
    assert ["notes"] == [one.name for one in after if not (one / "failures.txt").exists()]
    assert 2 == len(after)


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    """A folder that holds anything but traces is left alone, and the run does not begin."""
    (tmp_path / "thesis.txt").write_text("All of it.", "utf-8")
    with pytest.raises(BadFile, match="contains other files than the traces"):
        trace.prepare(tmp_path)
    with pytest.raises(BadFile, match="cannot be written"):
        trace.prepare(tmp_path / "thesis.txt")

    assert ["thesis.txt"] == [one.name for one in tmp_path.iterdir()]


def run(**headers: str) -> Run:
    """A run with one request of hostile bytes."""
    told = Request("model", False, (), ())
    received = Received(0.0, 1, "/r1/v1/chat/completions", headers, b"\xff\x00{", None, told, (), scripted=True)
    cell = Cell("openai-chat", stream=False, mode="sync")
    return Run("r1", cell, (), {}, Transcript(events=[received]), Value("half a pair: \ud800"))


def test_hostile_content_is_only_bytes_in_files(tmp_path: Path) -> None:
    """Names are the kit's own, whatever a case is called, and content is written as it came."""
    folder = tmp_path / trace.folder_of(run(), "../../etc/pass\0wd " + "x" * 500)
    trace.write(folder, run(), "FAIL half a pair: \ud800")

    assert [folder] == list(tmp_path.iterdir())
    assert trace.LONGEST >= len(folder.name)
    assert b"\xff\x00{" == (folder / "request-1.json").read_bytes()


def test_no_key_but_the_kits_own_is_written(tmp_path: Path) -> None:
    """A key that a driver took from its environment is masked."""
    made = run(authorization="Bearer sk-real", cookie="c=1", accept="text/html", **{"x-api-key": API_KEY})
    trace.write(tmp_path / "r1", made, "FAIL")
    told = (tmp_path / "r1" / "request-1.headers.txt").read_text("utf-8")

    lines = ["authorization: ***", "cookie: ***", "accept: text/html", f"x-api-key: {API_KEY}"]
    assert ["POST /r1/v1/chat/completions", *lines] == told.splitlines()


def test_a_run_is_written_once(tmp_path: Path) -> None:
    """Of two failures on one run both texts are there."""
    for text in ("FAIL one", "FAIL two"):
        trace.write(tmp_path / "r1", run(), text)

    assert "FAIL one\n\nFAIL two\n\n" == (tmp_path / "r1" / "failures.txt").read_text("utf-8")


def test_a_server_has_its_clients_request(tmp_path: Path) -> None:
    """Of a server there are the request of its client, the reply, and what it wrote meanwhile."""
    made = replace(run(), reply=Reply("openai-chat", stream=False, raw=b"{}", sent=b'{"a":1}'), log="a warning\n")
    trace.write(tmp_path / "r1", made, "FAIL")
    names = ("client-request.json", "client-reply.txt", "log.txt")

    assert [b'{"a":1}', b"{}", b"a warning\n"] == [(tmp_path / "r1" / name).read_bytes() for name in names]


def test_a_report_ends_in_the_servers_log() -> None:
    """The last lines that a server wrote are in the report of a failure."""
    check = Check(catalogue()["server-health-is-told"], Cell("openai-chat", stream=False, mode="sync"), "health")
    made = replace(run(), log="".join(f"line {n}\n" for n in range(30)))
    lines = render_failure(check, result_of(check, AssertionError("no")), made, "looptck run").splitlines()

    assert ["    line 28", "    line 29", "  again: looptck run"] == lines[-3:]
    assert "    line 17" not in lines
