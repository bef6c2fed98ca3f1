"""One driver class, used in two ways: in this process, and served as its own process."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from looptck import driver as door
from looptck.catalogue.data import fixture
from looptck.drivers import REFERENCE, child, process, protocol
from meta.drivers.bench import SCRIPTED, Report, in_process, judged

SERVED = "cmd:" + shlex.join([sys.executable, door.__file__, REFERENCE.removeprefix("python:")])
REQUIREMENTS = (
    "call-runs-its-tool-once",
    "limit-is-a-ceiling",
    "final-text-arrives-as-it-is-written",
    "concurrent-runs-do-not-leak",
    "interleaved-calls-stay-apart",
    "cut-reply-is-told",
)


def results(report: Report) -> list[dict[str, Any]]:
    """The result of each check."""
    found: list[dict[str, Any]] = report.json["results"]
    return found


def test_the_reference_is_judged_alike_in_both_ways() -> None:
    """The reference has the same verdicts as a served process and in this process."""
    served = judged(SERVED, *REQUIREMENTS, cells=("*",))
    inside = judged(REFERENCE, *REQUIREMENTS, cells=("*",))

    assert results(inside) == results(served)
    assert (0, []) == (served.status, served.late)
    assert inside.json["implementation"] == served.json["implementation"]


def test_both_schemas_accept_all_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every message of a run, in both directions, is valid by a second implementation of JSON Schema."""
    said: list[tuple[protocol.Direction, Any]] = []

    def overheard(direction: protocol.Direction, message: object) -> str | None:
        said.append((direction, message))
        return protocol.complaint(direction, message)

    for module in (child, process):
        monkeypatch.setattr(module, "complaint", overheard)

    judged(SERVED, *REQUIREMENTS[:3], cells=("*",))

    for direction in ("to-driver", "from-driver"):
        schema = json.loads(fixture(f"protocol/{direction}.schema.json").read_text("utf-8"))
        validator = Draft202012Validator(schema)
        for towards, message in said:
            if towards == direction:
                validator.validate(message)
    assert {"start", "run", "stop"} == {message["type"] for towards, message in said if towards == "to-driver"}
    assert {"started", "chunk", "event", "finished"} == {
        message["type"] for towards, message in said if towards == "from-driver"
    }


@pytest.mark.parametrize(
    ("driver", "detail"),
    [
        ("Raises", "KeyError: 'the fake has crashed'"),
        ("Exits", "SystemExit: 0"),
        ("ReturnsAnObject", "object is not JSON serializable"),
        ("NoRun", "has no attribute 'run"),
    ],
)
def test_a_served_driver_that_raises_crashes(driver: str, detail: str) -> None:
    """An uncaught error of a served driver ends its process, with the traceback on standard error."""
    served = f"cmd:{sys.executable} {door.__file__} {in_process(driver).removeprefix('python:')}"

    report = judged(served, "call-runs-its-tool-once", cells=("openai-chat/plain/*",), cases=("one-call",))

    assert (1, {"one-call": "error"}) == (report.status, report.verdicts)
    for result in results(report):
        assert result["reason"].startswith("driver: crashed: ")
        assert "exit status 70" in result["reason"]
        assert detail in result["reason"]


def test_a_driver_can_be_a_file(tmp_path: Path) -> None:
    """A driver that is named by its file works the same in this process and served."""
    path = tmp_path / "the_driver.py"
    path.write_text(Path(door.__file__).parents[1].joinpath("meta/drivers/fake_driver.py").read_text("utf-8"), "utf-8")
    path.with_name("wrapper.py").write_text(WRAPPER, "utf-8")
    named = f"{path.with_name('wrapper.py')}:Wrapper"

    inside = judged(f"python:{named}", "call-runs-its-tool-once", cases=SCRIPTED)
    line = shlex.join([sys.executable, door.__file__, named])
    served = judged(f"cmd:{line}", "call-runs-its-tool-once", cases=SCRIPTED)

    assert (0, {"pass": 2}) == (inside.status, inside.counts)
    assert results(inside) == results(served)


WRAPPER = """
import the_driver

class Wrapper:
    def start(self):
        return {key: value for key, value in the_driver.Driver.started.items() if key not in {"type", "protocol"}}

    def run(self, case, emit):
        print("this must not reach standard output's other end")
        return {"kind": "value", "text": the_driver.loop(case)}
"""


@pytest.mark.parametrize("words", [[], ["a:b", "c:d"]])
def test_serving_no_driver_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Without the name of a driver the command ends with exit status 2 and the usage."""
    assert 2 == door.main(words)
    assert capsys.readouterr().err.startswith("usage: python -m looptck.driver ")


@pytest.mark.parametrize(
    ("reference", "error"),
    [("json", ValueError), ("json:no_such", AttributeError), ("no_such:x", ImportError), ("no_such.py:x", ImportError)],
)
def test_a_driver_that_cannot_be_loaded_is_an_error(reference: str, error: type[Exception]) -> None:
    """An invalid reference raises an error that names it."""
    with pytest.raises(error, match=reference.rpartition(":")[0] or reference):
        door.load(reference)
