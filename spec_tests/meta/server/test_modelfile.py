"""Models that are files: which scripts lead to one, when it is loaded, and what shows that a turn was said."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from looptck.bench.bench import Patience
from looptck.bench.benches import server_bench
from looptck.bench.choosing import bench_for
from looptck.bench.client import Ask, Reply
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.drivers import DriverFault, Servers, connect
from looptck.provider import modelfile as room
from looptck.provider.faults import Cut, HttpError
from looptck.provider.gate import Gate
from looptck.provider.modelfile import ModelFiles, ScriptedModel, turns_of
from looptck.provider.script import Hold, Script, Step, step
from looptck.values.cell import Cell
from looptck.values.framing import Framing
from looptck.values.outcome import Nothing
from looptck.values.transcript import ToolBegan, Transcript
from looptck.values.turns import Call, Thinking, Turn, calls, refuses, says, turn
from looptck.values.verdicts import NotApplicable, NotReached
from meta.server.tiny import Loads

PING = calls(Call.of("ping"))
PARIS = calls(Call.of("weather", {"city": "Paris", "days": 2}), text="I look.")
DONE = says("Done.")
SAYS_NO = """
import json, sys
for line in sys.stdin:
    turns = json.loads(line)["turns"]
    print(json.dumps({"wrong": "no" if turns and not turns[0] else ""}), flush=True)
"""
ECHO = [sys.executable, str(Path(__file__).with_name("echo.py"))]


def script(*steps: Any) -> Script:
    """A script of these steps."""
    return Script(tuple(step(one) for one in steps))


@pytest.fixture(name="writer")
def _writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of the writer of models, one that writes none, and refuses a first turn without pieces."""
    path = tmp_path / "write.py"
    path.write_text(SAYS_NO, encoding="utf-8")
    monkeypatch.setattr(room, "WRITER", (sys.executable, str(path)))


@pytest.fixture(name="loading")
def _loading(tmp_path: Path, writer: None) -> Iterator[tuple[ScriptedModel, Loads]]:
    """A server in this process that has learned nothing yet."""
    line = connect("server:python:meta.server.tiny:Loads")
    assert isinstance(line, Servers)
    line.start()
    scripted_model = ScriptedModel(line, tmp_path)
    yield scripted_model, line._source._made  # type: ignore[attr-defined]
    scripted_model.close()


def test_a_script_is_its_turns() -> None:
    """Texts and calls, well written or not, are what a model can say; an endless script as far as it is answered."""
    odd = calls(Call("ping", "{broken"), Call.of("ping"), text="Well.")
    endless = Script((Step(PING),), lambda n: Step(says(f"Turn {n}.")), most=3)

    assert (PING, odd, says(None)) == turns_of(script(PING, odd, says(None)))
    assert (PING, says("Turn 2."), says("Turn 3.")) == turns_of(endless)


@pytest.mark.parametrize(
    "step",
    [
        Step(None, fault=HttpError(500)),
        Step(DONE, fault=Cut()),
        Step(DONE, framing=Framing(escaped=True)),
        Step(DONE, holds=(Hold(Gate("x"), None),)),
        Step(DONE, before=Gate("x")),
        Step(DONE, forgets=""),
        Step(says("Don", stop="length")),
        Step(calls(Call.of("ping"), stop="end")),
        Step(says("x" * 30_000)),
    ],
)
def test_what_no_file_does_is_not_applicable(step: Step) -> None:
    """Faults, framings, gates and other reasons to stop are the kit's own doing, and no model's."""
    with pytest.raises(NotApplicable, match="the server's model is a file"):
        turns_of(Script((Step(PING), step)))


@pytest.mark.parametrize(
    "turn", [refuses("No."), turn(Thinking("Hm."), "Done."), calls(Call("ping", "x", custom=True))]
)
def test_what_no_model_writes_is_not_applicable(tmp_path: Path, writer: None, turn: Turn) -> None:
    """Of the pieces of a turn a model writes texts and calls."""
    files = ModelFiles(tmp_path)

    with pytest.raises(NotApplicable, match="which can produce texts and calls, but not"):
        files.write([turn])
    files.close()


def test_a_script_is_written_once(tmp_path: Path, writer: None) -> None:
    """The same turns have the same file, others another, and what cannot be written is told every time."""
    files = ModelFiles(tmp_path)

    first, again, other = files.write([PING, DONE]), files.write([PING, DONE]), files.write([DONE])

    assert first == again
    assert first != other
    for _ in range(2):
        with pytest.raises(NotApplicable, match="no model file can produce this script: no"):
            files.write([says(None)])
    files.close()


def test_a_writer_that_ends_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the packages are missing that is said, as often as a file is wanted."""
    path = tmp_path / "write.py"
    path.write_text("import sys; sys.exit('pip install this')", encoding="utf-8")
    monkeypatch.setattr(room, "WRITER", (sys.executable, str(path)))
    files = ModelFiles(tmp_path)

    for _ in range(2):
        with pytest.raises(DriverFault, match="cannot be written: pip install this"):
            files.write([DONE])
    files.close()


def test_a_model_is_loaded_where_it_is_another(loading: tuple[ScriptedModel, Loads]) -> None:
    """A script that is loaded already is not loaded again, until that is forgotten."""
    scripted_model, server = loading
    scripted_model.load(script(DONE))
    assert (DONE,) == scripted_model.load(script(DONE), alone=False)
    assert 1 == len(server.loaded)

    scripted_model.load(script(PING))
    scripted_model.unload()
    scripted_model.load(script(PING))

    assert 3 == len(server.loaded)
    assert server.loaded[1] == server.loaded[2]


def test_one_script_at_a_time(loading: tuple[ScriptedModel, Loads]) -> None:
    """While a server is at one script it cannot be given another."""
    scripted_model, server = loading
    scripted_model.load(script(DONE))

    with pytest.raises(NotApplicable, match="one script at a time"):
        scripted_model.load(script(PING), alone=False)
    assert 1 == len(server.loaded)


def test_sessions_end_with_their_model(loading: tuple[ScriptedModel, Loads]) -> None:
    """A session that was begun under another script is not there any more."""
    scripted_model, _ = loading
    scripted_model.load(script(DONE), "one")
    scripted_model.load(script(DONE), "one")
    scripted_model.load(script(PING), "two")

    with pytest.raises(NotApplicable, match="has lost the session"):
        scripted_model.load(script(DONE), "one")


def test_a_command_is_started_anew(tmp_path: Path) -> None:
    """A process has one model as long as it lives, and finds it, and its description's folder, in its words."""
    path = tmp_path / "server.yaml"
    about = {"name": "tiny", "version": "1", "wires": ["openai-chat"], "capabilities": ["model"]}
    words = [*ECHO, "{port}", "{model}", "{folder}"]
    path.write_text(json.dumps({**about, "command": words, "setups": {"usual": []}}), encoding="utf-8")
    line = connect(f"server:{path}")
    assert isinstance(line, Servers)
    found = []

    for name in ("one.gguf", "two.gguf"):
        line.load(tmp_path / name)
        found.append((line.process("usual"), httpx.get(line.url("usual"), trust_env=False).json()[1:]))
    line.stop()

    assert [[str(tmp_path / name), str(tmp_path)] for name in ("one.gguf", "two.gguf")] == [told for _, told in found]
    assert found[0][0] != found[1][0]


def test_what_a_check_leaves_behind_ends(writer: None) -> None:
    """A check that is over before its request is answered does not keep the next one from its script."""
    waiting = Scenario()
    waiting.plays(PING)
    done = Scenario()
    done.plays(DONE)
    cell = Cell("openai-chat", stream=False, mode="sync")

    bench = bench_for("server:python:meta.server.tiny:LoadsAndHangs", Patience(20.0, 5.0))
    with server_bench(bench) as bench:
        bench.ask(waiting, cell, Ask(question="One."))
        with pytest.raises(NotApplicable, match="one script at a time"):
            bench.ask(done, cell, Ask(question="Two."))
        bench.leave()
        run = bench.ask(done, cell, Ask(question="Three.")).run

    assert (DONE,) == run.scripted


# -- what shows that a turn was said -------------------------------------------------------------------------------


def ran(said: Turn | None, *tools: tuple[str, Any]) -> Run:
    """A run of a model that is a file, in which these tools ran and the client was told this."""
    wanted = [PING, PING, PARIS, says("Done."), says("Done.")]
    run = Run("r1", Cell("openai-chat", stream=False, mode="sync"), (), {}, Transcript(), Nothing(1.0), scripted=wanted)
    for number, (tool, arguments) in enumerate(tools, 1):
        run.transcript.append(ToolBegan(0.0, number, tool, arguments))
    if said is not None:
        called = [
            {"id": "x", "type": "function", "function": {"name": c.tool, "arguments": c.arguments}} for c in said.calls
        ]
        message = {"role": "assistant", "content": said.text, "tool_calls": called}
        raw = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        run.reply = Reply("openai-chat", stream=False, status=200, raw=raw)
    return run


PINGED: tuple[str, Any] = ("ping", {})
LOOKED = ("weather", {"days": 2, "city": "Paris"})


@pytest.mark.parametrize(
    ("run", "shown"),
    [
        (ran(None), 0),
        (ran(None, PINGED), 1),
        (ran(None, PINGED, PINGED), 2),
        (ran(None, PINGED, PINGED, LOOKED), 3),
        (ran(None, ("weather", {"city": "Oslo"})), 0),
        (ran(PING), 1),
        (ran(PING, PINGED), 2),
        (ran(PARIS, PINGED), 3),
        (ran(says("I look.")), 3),
        (ran(says("Done."), PINGED), 4),
        (ran(says("Done. Done.")), 5),
        (ran(says("Something else.")), 0),
    ],
)
def test_a_turn_is_shown_by_what_it_leads_to(run: Run, shown: int) -> None:
    """A run of its call, or its text or its call in the reply, show a turn and all before it, and none behind it."""
    assert run.scripted is not None

    for n, said in enumerate(run.scripted, 1):
        if n <= shown:
            assert said == run.delivered(n)
        else:
            with pytest.raises(NotReached, match=f"no sign that the model produced turn {n}"):
                run.delivered(n)


def test_questions_are_not_seen() -> None:
    """What such a model is asked is no matter of a check."""
    run = ran(DONE)

    assert [] == run.received
    for ask in (lambda: run.requests, lambda: run.request(1), lambda: run.answers(4)):
        with pytest.raises(NotApplicable, match="so its requests cannot be seen"):
            ask()


# -- the file itself ------------------------------------------------------------------------------------------------


def test_a_file_says_its_script(tmp_path: Path) -> None:
    """The tokens of the file, each with its successor, are the turns; a call is one token, however often it is made."""
    gguf = pytest.importorskip("gguf", reason="needs the extra scripted")
    files = ModelFiles(tmp_path)
    path = files.write([PING, calls(Call.of("ping"), Call.of("ping", {"a": 1}), text="Łook: "), says(None), DONE])
    files.close()

    fields = gguf.GGUFReader(path).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    template = fields["tokenizer.chat_template"].contents()

    assert {"<|over|>", "<|1|>", "<|2|>", "<|3|>", "<|4|>"} <= {*tokens}
    assert '<tool_call>Ċ{"name":Ġ"ping",Ġ"arguments":Ġ{}}Ċ</tool_call>' in tokens
    assert "'over' if now.turn > 4" in template


def test_a_long_endless_script_is_written(tmp_path: Path) -> None:
    """As many turns as the runaway cap lets be asked for, all much alike, fit into a file."""
    pytest.importorskip("gguf", reason="needs the extra scripted")
    files = ModelFiles(tmp_path)
    endless = Script((), lambda n: Step(calls(Call.of("weather", {"city": f"city {n}"}))))

    path = files.write(turns_of(endless))
    files.close()

    assert path.is_file()
