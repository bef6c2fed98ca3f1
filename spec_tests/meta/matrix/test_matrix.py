"""``looptck matrix``: what is kept, what is played again, and what a target that does not work looks like."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from looptck.catalogue.yaml_files import BadFile
from looptck.commands.matrix import command as commands
from looptck.commands.matrix.command import MatrixOptions, matrix
from looptck.commands.matrix.environments import Environment, NotInstalled
from looptck.commands.matrix.kept import Kept, Made, entry, kept
from looptck.commands.matrix.known import with_known
from looptck.commands.matrix.playing import Playing
from looptck.commands.matrix.targets import Target, targets
from looptck.suite.units import Shard

DRIVER = """
from looptck_reference.kit.driver import Driver as Right
class Driver(Right):
    pass
"""
ONE = ("--requirement", "call-runs-its-tool-once", "--case", "one-call", "--cell", "openai-chat/plain/sync")


@pytest.fixture(name="options")
def _options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MatrixOptions:
    """Three targets that need no installation; the driver of one cannot be imported."""
    for name, driver in {"one": DRIVER, "two": DRIVER, "broken": "import nothing_of_this_name\n"}.items():
        (tmp_path / "targets" / name).mkdir(parents=True)
        (tmp_path / "targets" / name / "requirements.txt").touch()
        (tmp_path / "targets" / name / "driver.py").write_text(driver, encoding="utf-8")
    monkeypatch.setattr(commands, "ENVIRONMENTS", tmp_path / "environments")
    monkeypatch.setattr(Environment, "install", lambda _self, *, quiet: quiet)
    monkeypatch.setattr(Environment, "runs_drivers", property(lambda _: Path(sys.executable)))
    return MatrixOptions(folder=tmp_path / "targets", results=tmp_path / "kept", site=tmp_path / "site", options=ONE)


def _said(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """The line of each target, by its name."""
    lines = capsys.readouterr().out.splitlines()
    return {line.split()[0].rstrip(":"): line for line in lines if not line.endswith("index.html")}


def test_all_are_played_and_kept(options: MatrixOptions, capsys: pytest.CaptureFixture[str]) -> None:
    """Each has a file and a row; one that cannot be started is a row that says why, and the status is 1."""
    assert 1 == matrix(options)
    said = _said(capsys)

    assert {"one", "two", "broken"} == set(said)
    assert "1 pass, 0 against" in said["one"]
    assert "The suite could not run" in said["broken"]
    assert "nothing_of_this_name" in said["broken"]
    index = (options.site / "index.html").read_text(encoding="utf-8") if options.site else ""
    assert 4 == index.count("<tr")
    assert "nothing_of_this_name" in index


@pytest.mark.parametrize("what", ["results", "site"])
def test_folders_are_tried_first(what: str, options: MatrixOptions, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is played that could not be kept, or shown."""
    (options.folder / "file").touch()
    changed: dict[str, Any] = {what: options.folder / "file" / "place"}

    assert 2 == matrix(replace(options, **changed))

    said = capsys.readouterr().out
    assert "looptck could not run: " in said
    assert "1 pass" not in said


def test_what_is_current_is_kept(options: MatrixOptions, capsys: pytest.CaptureFixture[str]) -> None:
    """A second time nothing is played; a changed driver is, and --again plays all."""
    options = replace(options, names=["one", "two"])
    matrix(options)
    first = _said(capsys)
    matrix(options)
    second = _said(capsys)
    driver = options.folder / "two" / "driver.py"
    driver.write_text(DRIVER + "\nchanged = True\n", encoding="utf-8")
    matrix(options)
    third = _said(capsys)

    assert [False, False] == ["(kept)" in line for line in first.values()]
    assert [True, True] == ["(kept)" in line for line in second.values()]
    assert [True, False] == ["(kept)" in third[name] for name in ("one", "two")]


def test_nothing_is_played_if_told_so(options: MatrixOptions, capsys: pytest.CaptureFixture[str]) -> None:
    """The site is built of what is kept, here of nothing."""
    assert 0 == matrix(replace(options, plays=False))
    assert {} == _said(capsys)


def test_shards_are_all(options: MatrixOptions) -> None:
    """Every target is in one shard, and the files of all of them make one site."""
    names = [target.name for target in targets(options.folder)]
    parts = [[one.name for one in commands._part(targets(options.folder), Shard(n, 2))] for n in (1, 2)]

    assert sorted(names) == sorted([*parts[0], *parts[1]])
    assert all(parts)


def test_commands_of_receipts_work_anywhere(options: MatrixOptions, tmp_path: Path) -> None:
    """They name the target instead of the paths of this machine, and no result has a path of the checkout."""
    wrong = "    class loop(Loop):\n        def calls_of(self, turn):\n            return [*turn.calls, *turn.calls]\n"
    text = f"from looptck_reference.loop.loop import Loop{DRIVER}{wrong}"
    (options.folder / "one" / "driver.py").write_text(text.replace("    pass\n", ""), encoding="utf-8")
    playing = Playing(tmp_path / "environments", options.results, ONE, 60, tmp_path)
    one = playing.play(targets(options.folder)[1])

    assert one.run is not None
    (cause,) = one.run["causes"]
    assert cause["again"].startswith("looptck target one --profile core --requirement call-runs-its-tool-once")
    assert str(tmp_path) not in json.dumps(one.run)


WRONG = """
from looptck_reference.loop.loop import Loop
from looptck_reference.kit.driver import Driver as Right
class Driver(Right):
    class loop(Loop):
        def calls_of(self, turn):
            return [*turn.calls, *turn.calls]
"""
ENTRY = '- {requirement: %s, cell: "*/*/*", reason: "Theirs: twice."}\n'


def test_known_failures_cost_no_second_run(options: MatrixOptions, capsys: pytest.CaptureFixture[str]) -> None:
    """A reason that is added or removed marks what is kept; an entry whose checks pass is stale."""
    options = replace(options, names=["one"])
    folder = options.folder / "one"
    (folder / "driver.py").write_text(WRONG, encoding="utf-8")
    matrix(options)
    played = _said(capsys)["one"]
    (before,) = (one.run for one in kept(options.results))
    file = folder / "known-failures.yaml"
    file.write_text("".join(ENTRY % row["requirement"] for row in (before or {})["results"]), encoding="utf-8")
    status = matrix(options)
    explained = _said(capsys)["one"]
    reasons = [row.get("known") for one in kept(options.results) for row in (one.run or {})["results"]]
    file.unlink()
    matrix(options)

    assert "2 against, 2 of them not known" in played
    assert "2 against, 0 of them not known (kept)" in explained
    assert 0 == status
    assert ["Theirs: twice."] * 2 == reasons
    assert "2 against, 2 of them not known (kept)" in _said(capsys)["one"]


def test_a_known_failure_that_passes_is_stale(options: MatrixOptions, capsys: pytest.CaptureFixture[str]) -> None:
    """It is said of kept results too; not if the run has left out checks."""
    options = replace(options, names=["two"])
    matrix(options)
    file = options.folder / "two" / "known-failures.yaml"
    file.write_text(ENTRY % "call-runs-its-tool-once", encoding="utf-8")
    _said(capsys)
    status = matrix(options)
    said = _said(capsys)["two"]
    (one,) = kept(options.results)
    run: dict[str, Any] = {**(one.run or {}), "left_out": 1}
    partial = with_known(replace(one, run=run), targets(options.folder)[-1])
    again = with_known(one, targets(options.folder)[-1])

    assert "1 stale (kept)" in said
    assert 1 == status
    assert run == partial.run
    assert one == again


def test_a_run_that_does_not_end_is_ended(options: MatrixOptions, tmp_path: Path) -> None:
    """It is a row that says so, and its processes are gone."""
    text = f"{DRIVER}    def start(self):\n        import threading\n        threading.Event().wait()\n"
    (options.folder / "one" / "driver.py").write_text(text, encoding="utf-8")
    playing = Playing(tmp_path / "environments", options.results, [*ONE, "--timeout", "600"], 3, tmp_path)
    one = playing.play(targets(options.folder)[1])

    assert one.run is None
    assert one.why_not is not None
    assert one.why_not.startswith(("The suite could not run: ", "The suite came to no verdict: "))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_an_interrupted_matrix_ends(options: MatrixOptions, tmp_path: Path) -> None:
    """What is under way ends and is not kept, nothing more is begun, and the status is 2."""
    pipe = tmp_path / "began"
    os.mkfifo(pipe)
    waits = f"{DRIVER}    def start(self):\n        import threading\n        open({str(pipe)!r}, 'w')\n"
    for name in ("one", "two"):
        text = f"{waits}        threading.Event().wait()\n"
        (options.folder / name / "driver.py").write_text(text, encoding="utf-8")
    main = threading.main_thread().ident or 0

    def kill() -> None:
        pipe.open(encoding="utf-8").close()  # as soon as a driver has opened it
        signal.pthread_kill(main, signal.SIGTERM)

    killer = threading.Thread(target=kill)
    killer.start()

    assert 2 == matrix(replace(options, names=["one", "two"], options=[*ONE, "--timeout", "600"]))
    killer.join()
    assert not options.results.exists()


def test_a_run_that_is_cut_short_is_not_current(options: MatrixOptions, capsys: pytest.CaptureFixture[str]) -> None:
    """It is shown with its verdicts, but is not clean, and is played again."""
    options = replace(options, names=["one"])
    assert 0 == matrix(options)
    (path,) = options.results.iterdir()
    data = json.loads(path.read_text(encoding="utf-8"))
    data["run"]["unfinished"] = {"checks": 3, "questions": 0}
    path.write_text(json.dumps(data), encoding="utf-8")
    (cut,) = kept(options.results)
    capsys.readouterr()

    assert not commands._is_clean(cut)
    assert "cut short" in commands._line(targets(options.folder)[1], cut, is_new=False).plain
    assert 0 == matrix(replace(options, plays=False))
    page = next((options.site or Path()).glob("i/*.html")).read_text(encoding="utf-8")
    assert "The run was cut short." in page
    assert "Nothing fails." not in page
    assert 0 == matrix(options)
    assert "(kept)" not in _said(capsys)["one"]


def _kept(target: str, run: dict[str, Any] | None) -> Kept:
    return Kept(Made(target, "loop", "0", "0"), 1.0, run, None if run else "It cannot be installed: no")


def test_each_version_is_kept(tmp_path: Path) -> None:
    """A new version has a file beside the old one; what could not be installed is replaced by what can."""
    older, newer = ({"implementation": {"version": version}} for version in ("1.0", "1.1"))
    _kept("one", None).write(tmp_path)
    before = [path.name for path in tmp_path.iterdir()]
    _kept("one", older).write(tmp_path)
    _kept("one", newer).write(tmp_path)

    assert ["one.json"] == before
    assert [_kept("one", older), _kept("one", newer)] == [*kept(tmp_path)]


@pytest.mark.parametrize("text", ["{", "{}", '{"made": 1, "seconds": 1, "run": null, "why_not": null}'])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    """The error names the file; nothing is overwritten."""
    (tmp_path / "one--1.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadFile, match=r"one--1\.json"):
        list(kept(tmp_path))


def test_a_target_that_cannot_be_installed(
    options: MatrixOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is kept with the installer's words, and the others are played."""

    def install(self: Environment, *, quiet: bool) -> None:
        if self.target.name == "two" and quiet:
            raise NotInstalled(f"pip ended with status 1: no room in {tmp_path}/environments")

    monkeypatch.setattr(Environment, "install", install)
    playing = Playing(tmp_path / "environments", options.results, ONE, 60, tmp_path)
    one = playing.play(targets(options.folder)[2])

    assert "It cannot be installed: pip ended with status 1: no room in environments" == one.why_not
    assert [one] == [*kept(options.results)]


def test_an_entry_has_the_notes_of_its_target(tmp_path: Path) -> None:
    """The table of choices without its title, and the reports; a target that is gone has neither."""
    folder = tmp_path / "one"
    (folder / "reports").mkdir(parents=True)
    (folder / "README.md").write_text("# One\n\nChoices.\n", encoding="utf-8")
    (folder / "reports" / "twice.md").write_text("# Twice\n", encoding="utf-8")
    one = _kept("one", None)

    assert ("\nChoices.\n", {"twice": "# Twice\n"}) == (
        (made := entry(one, {"one": Target(folder)})).notes,
        made.reports,
    )
    assert ("", {}) == ((gone := entry(one, {})).notes, gone.reports)
