"""The tool that plays mutants of a loop from outside, with a kit that plays one requirement."""

from __future__ import annotations

import ast
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tools.outside.__main__ import main
from tools.outside.loop import Loop
from tools.outside.marking import MARK
from tools.outside.playing import Heard, Kit

DRIVER = """\
from looptck.driver import error, handlers, started, value
from loop import run


class Driver:
    def start(self):
        return started("a loop of a few lines", "1", wires=["openai-chat"], modes=["sync"])

    def run(self, case, emit):
        try:
            return value(run(case, handlers(case)))
        except Exception as exception:
            return error(exception)
"""
LOOP = """\
import json
from urllib.request import Request, urlopen


def run(case, tools):
    history = list(case["messages"])
    while True:
        message = ask(case, {"model": case["model"], "messages": history, "tools": offered(case)})
        calls = message.get("tool_calls")
        if not calls:
            return message["content"]
        history.append(message)
        for call in calls:
            result = tools[call["function"]["name"]](**json.loads(call["function"]["arguments"]))
            history.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)})


def offered(case):
    names = ("name", "description", "parameters")
    return [{"type": "function", "function": {name: tool[name] for name in names}} for tool in case["tools"]]


def ask(case, body):
    headers = {"Authorization": "Bearer " + case["api_key"], "Content-Type": "application/json"}
    url = case["base_url"] + "/chat/completions"
    with urlopen(Request(url, json.dumps(body).encode(), headers), timeout=10) as reply:
        return json.load(reply)["choices"][0]["message"]


def idle(case):
    return case["model"]
"""
PLAYED = ["--option=--requirement", "--option=every-call-of-a-turn-runs"]
"""A kit that plays no more than this."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A loop and its driver."""
    (tmp_path / "driver.py").write_text(DRIVER, encoding="utf-8")
    (tmp_path / "loop.py").write_text(LOOP, encoding="utf-8")
    return tmp_path


def invoked(folder: Path, *words: str) -> Result:
    """The tool, on the loop in this folder."""
    file = str(folder / "mutants.json")
    done = CliRunner().invoke(main, [str(folder / "driver.py"), "--json", file, *PLAYED, *words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def test_mutants_are_killed_or_survive(folder: Path) -> None:
    """What the requirement sees is killed by it, and what it does not see survives."""
    seen = invoked(folder, "--site", "append dropped: `history.append(message)`")
    unseen = invoked(folder, "--site", "argument timeout dropped")

    assert (0, 1) == (seen.exit_code, unseen.exit_code), seen.output + unseen.output
    kept = json.loads((folder / "mutants.json").read_text(encoding="utf-8"))
    assert {"played": 2, "killed": 1, "survived": 1, "not played": 0} == kept["summary"]
    assert ["no-request-is-refused" in one["rows"] for one in kept["mutants"]] == [True, False]
    assert {8, 31} & set(kept["reached"]["loop.py"]) == {8}


def test_a_run_goes_on_where_another_was_stopped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the file has is not played again, unless it survived and is asked for."""
    played: list[str] = []

    def heard(kit: Kit, loop: Loop, changed: dict[str, str], folder: Path) -> Heard:
        played.append(changed["loop.py"])
        loop.copied(folder, {})
        (folder / f"{MARK}.txt").write_text("5 32 loop.py\n", encoding="utf-8")
        return Heard((("row", "why"),), ("row",)) if "timeout" not in changed["loop.py"] else Heard()

    monkeypatch.setattr(Kit, "heard", heard)

    counts = []
    for words in (["--count", "3"], ["--count", "5"], ["--count", "5"], ["--count", "5", "--again"]):
        before = len(played)
        done = invoked(folder, "--site", "ask", *words)
        counts.append(len(played) - before)

    assert [4, 2, 0] == counts[:3], done.output
    assert 0 < counts[3] == done.output.count("survived: ") <= 5


def test_only_one_thread_parses(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads play mutants, and none of them parses: CPython 3.11 fails where two do at a time."""
    parsing: set[threading.Thread] = set()
    parse = ast.parse

    def parsed(*given: Any, **options: Any) -> Any:
        parsing.add(threading.current_thread())
        return parse(*given, **options)

    monkeypatch.setattr(ast, "parse", parsed)
    monkeypatch.setattr(Kit, "heard", lambda *_: Heard())
    monkeypatch.setattr("tools.outside.__main__.reached", lambda _: {"loop.py": {*range(40)}})

    done = invoked(folder, "--count", "3")

    assert "3 survived" in done.output
    assert {threading.main_thread()} == parsing


def test_a_loop_that_fails_as_it_is(folder: Path) -> None:
    """Nothing is changed in it, and the row that it fails is told."""
    (folder / "loop.py").write_text(LOOP.replace("in calls:", "in calls[:1]:"), encoding="utf-8")

    done = invoked(folder)

    assert 2 == done.exit_code
    assert "could not run: the loop as it is fails " in done.output
    assert not (folder / "mutants.json").exists()


def test_nothing_selected(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that no name holds is told."""
    monkeypatch.setattr(Kit, "heard", lambda *_: Heard())

    done = invoked(folder, "--site", "no such text")

    assert (2, "could not run: nothing was selected\n") == (done.exit_code, done.output)
