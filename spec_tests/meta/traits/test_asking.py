"""Asking: when a trait is asked, what an answer has to be, and what becomes of a test that goes wrong."""

from __future__ import annotations

import inspect
import json
from collections import Counter
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from looptck import spec
from looptck.bench.choosing import bench_for
from looptck.bench.run import Run
from looptck.catalogue.data import fixture
from looptck.catalogue.requirements import catalogue
from looptck.catalogue.traits import read, traits
from looptck.catalogue.yaml_files import BadFile
from looptck.cli.group import main
from looptck.drivers import DriverFault, Started
from looptck.suite.asking import Loop, Question, Survey, answer_of, cut, loop_for
from looptck.suite.options import CouldNotRun, Options
from looptck.suite.selection import Selection
from looptck.suite.session import Session
from looptck.values.cell import Cell
from looptck.values.turns import says

CELL = Cell("openai-chat", stream=False, mode="sync")
QUESTION = Question(traits()["raising-tool"], CELL)
STARTED = Started("loop", "1", "python", ("openai-chat",), ("sync",), (), {}, {})
SERVER = Started("server", "1", "python", ("openai-chat",), ("sync",), ("server-loop",), {}, {})


def _loop() -> Loop:
    bench: Any = SimpleNamespace(enter=lambda _: None)
    return loop_for(QUESTION, bench, Survey())


def test_answer_is_one_that_the_trait_has() -> None:
    """An answer that is not declared is the kit's own error, and is told as such."""
    loop = _loop()

    with pytest.raises(ValueError, match="raising-tool has no answer 'told'; it has told-to-the-model, ") as raised:
        loop.answers("told")
    answer = answer_of(QUESTION, loop, raised.value)
    assert ("error", True) == (answer.answer, answer.detail.startswith("looptck itself: ValueError: raising-tool has"))


def test_answer_is_given_once() -> None:
    """A second answer is the kit's own error."""
    loop = _loop()
    loop.answers("asked-again")

    with pytest.raises(ValueError, match="already has the answer asked-again, and gets a second, error-for-the-caller"):
        loop.answers("error-for-the-caller")


def test_no_answer_is_an_error_of_the_kit() -> None:
    """A test that ends without an answer has one all the same."""
    answer = answer_of(QUESTION, _loop(), None)

    assert ("error", "looptck itself: the test recorded no answer") == (answer.answer, answer.detail)


def test_late_fault_spoils_the_answers_of_its_run() -> None:
    """A run that turns out to be broken when it is over leaves no answer behind."""
    survey = Survey()
    loop = _loop()
    loop.answers("asked-again")
    run: Any = SimpleNamespace(id="r7")
    survey.take(answer_of(QUESTION, loop, None), [run])

    survey.spoil(DriverFault("bad-message", "a second answer", run="r8"))
    assert ["asked-again"] == [one.answer for one in survey.answers]
    survey.spoil(DriverFault("bad-message", "a second answer", run="r7"))
    assert ["error"] == [one.answer for one in survey.answers]


def test_detail_is_the_same_in_every_run() -> None:
    """Addresses and places in memory are left out, and long texts are cut in the middle."""
    text = "POST http://127.0.0.1:44319/c174/v1/chat: <object at 0x7f1eac1b3550>\n  lost"

    assert "POST …/v1/chat: <object at …> lost" == cut(text)
    assert 200 >= len(cut("word " * 1000))


def test_run_that_several_traits_are_read_from_is_played_once() -> None:
    """The second trait is shown the run of the first, also where that ended in an error of the driver."""
    with bench_for("python:looptck_reference.kit.driver:Driver") as bench:
        survey, played = Survey(), list[Run]()

        def play(loop: Loop) -> Run:
            played.append(loop.plays(says("Hello.")))
            return played[-1]

        loops = [loop_for(QUESTION, bench, survey) for _ in range(2)]
        runs = [loop.once("hello", lambda loop=loop: play(loop)) for loop in loops]  # type: ignore[misc]

    assert 1 == len(played)
    assert [played, played] == [loop.runs for loop in loops]
    assert runs[0] is runs[1]


@pytest.mark.parametrize(
    ("selection", "started", "asked"),
    [
        (Selection(), STARTED, True),
        (Selection(profiles=("core",)), STARTED, True),
        (Selection(profiles=("prompty-spec",)), STARTED, False),
        (Selection(cells=("openai-chat/*",)), STARTED, True),
        (Selection(cells=("openai-responses/*",)), STARTED, False),
        (Selection(requirements=("twin-ids-lose-nothing",)), STARTED, False),
        (Selection(cases=("one-call",)), STARTED, False),
        (Selection(level="MUST"), STARTED, False),
        (Selection(traits=("raising-tool",)), STARTED, True),
        (Selection(traits=("raising-tool",), requirements=("twin-ids-lose-nothing",)), STARTED, True),
        (Selection(traits=("null-result",)), STARTED, False),
        (Selection(), SERVER, False),
        (Selection(traits=("raising-tool",)), SERVER, False),
    ],
)
def test_trait_is_asked_where_core_is_judged(selection: Selection, started: Started, asked: bool) -> None:
    """Traits go with the whole of core, or are named; a server and a loop of Solutions are asked none."""
    assert asked == selection.asks("raising-tool", CELL, started)


def test_named_traits_leave_requirements_out() -> None:
    """Where traits are named, no requirement is judged but those that are named too."""
    row = catalogue()["twin-ids-lose-nothing"]

    assert not Selection(traits=("raising-tool",)).takes(row, CELL, STARTED)
    assert Selection(traits=("raising-tool",), requirements=(row.id,)).takes(row, CELL, STARTED)


def test_unknown_trait_cannot_be_run() -> None:
    """A trait that there is not is refused, with the nearest one."""
    with pytest.raises(CouldNotRun, match="there is no trait 'raising-tools'; did you mean raising-tool"):
        Session.begin(Options(selection=Selection(traits=("raising-tools",))))


def test_each_trait_has_one_test() -> None:
    """Every trait that is declared is asked by one test, which says in a line what it plays."""
    asked: Counter[str] = Counter()
    for module in walk_packages(spec.__path__, spec.__name__ + "."):
        if ".traits.test_" in module.name:
            for test in vars(import_module(module.name)).values():
                for mark in getattr(test, "pytestmark", []):
                    if mark.name == "looptck_trait":
                        asked[mark.args[0]] += 1
                        assert inspect.getdoc(test)

    assert {trait.id: 1 for trait in traits()} == asked


def test_run_tells_traits(tmp_path: Path) -> None:
    """A run of one trait prints it, writes it as JSON that fits the schema, and counts no check."""
    path = tmp_path / "results.json"
    words = ["run", "--trait", "null-result", "--cell", "openai-chat/*", "--json", str(path)]
    done = CliRunner().invoke(main, words)
    told = json.loads(path.read_text("utf-8"))

    assert 0 == done.exit_code, done.output
    assert "null-result  as-json" in done.output
    assert "1 traits, recorded, not judged: 4 answers" in done.output
    Draft202012Validator(json.loads(fixture("results.schema.json").read_text("utf-8"))).validate(told)
    assert [{"trait": "null-result", "cell": str(CELL), "answer": "as-json", "detail": "null"}] == told["traits"][:1]
    assert (4, []) == (len(told["traits"]), told["results"])


def test_list_and_explain_know_traits() -> None:
    """The list ends with the traits; an explanation has question and answers, and requirements name their traits."""
    listed = CliRunner().invoke(main, ["list"]).output
    explained = CliRunner().invoke(main, ["explain", "error-text"]).output
    beside = CliRunner().invoke(main, ["explain", "twin-ids-lose-nothing"]).output

    for trait in traits():
        assert f"  ? {trait.id}: {trait.question}\n" in listed
    for piece in ("What does the model get to read", "message-and-class", "not-reached", "--trait error-text"):
        assert piece in explained
    assert "see the trait: twin-ids" in beside


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"question": "What."}, "What."),
        ({"answers": {}}, "has less than 1 propert"),
        ({"answers": {"Told": "It is told."}}, "does not match"),
        ({"answers": {"error": "It fails."}}, "every trait has the answers error"),
        ({"shares": ["fates"]}, "there is no set of shared answers 'fates'; did you mean fate"),
        ({"requirement": "twin-ids"}, "there is no requirement 'twin-ids'"),
        ({"colour": "red"}, "colour"),
        ({"id": "raising-tool"}, "the id raising-tool is defined twice"),
    ],
)
def test_bad_file_is_refused(tmp_path: Path, change: dict[str, Any], wrong: str) -> None:
    """A file of traits that breaks the schema, or names what there is not, is refused with the reason."""
    data = yaml.safe_load(fixture("traits/core.yaml").read_text("utf-8"))
    data["topics"][0]["traits"][0].update(change)
    (tmp_path / "core.yaml").write_text(yaml.safe_dump(data), "utf-8")
    (tmp_path / "trait.schema.json").write_bytes(fixture("traits/trait.schema.json").read_bytes())

    with pytest.raises(BadFile, match=wrong):
        read(tmp_path)


def test_folder_without_traits_is_refused(tmp_path: Path) -> None:
    """Nothing to ask is no set of traits."""
    with pytest.raises(BadFile, match="there is no trait in it"):
        read(tmp_path)
