"""Targets: their names, ages and variants, the files that go with each, and how each is started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from looptck.cli.group import main
from looptck.commands.matrix import command as commands
from looptck.commands.matrix import environments
from looptck.commands.matrix.command import MatrixOptions, matrix, play
from looptck.commands.matrix.environments import VARIANT, Environment, NotInstalled
from looptck.commands.matrix.targets import NoSuchTarget, Target, chosen, targets


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """A folder of two targets, one of them of two ages."""
    for file in ("one/requirements.txt", "two/requirements-1.0.txt", "two/requirements-2.txt"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    return tmp_path


@pytest.fixture(name="varied")
def _varied(folder: Path) -> Path:
    """The same folder, where both targets have variants, one of them at one age."""
    (folder / "one/variants.yaml").write_text("quiet: {about: It says less.}\n", encoding="utf-8")
    two = 'loud: {about: It says more.}\nlate: {about: It is late., ages: ["2"]}\n'
    (folder / "two/variants.yaml").write_text(two, encoding="utf-8")
    return folder


def test_a_target_has_its_files(folder: Path) -> None:
    """A target without ages has files without them."""
    one = targets(folder)[0]

    assert ("one", folder / "one" / "requirements.txt") == (one.name, one.requirements)
    assert folder / "one" / "known-failures.yaml" == one.known_failures
    assert "loop" == one.kind


def test_an_age_has_its_files(folder: Path) -> None:
    """Each age of a target has a name, requirements, known failures and an environment of its own."""
    older, newer = targets(folder)[1:]

    assert ("two@1.0", "two@2") == (older.name, newer.name)
    assert folder / "two" / "requirements-1.0.txt" == older.requirements
    assert folder / "two" / "known-failures-1.0.yaml" == older.known_failures
    assert Environment(older, folder).place != Environment(newer, folder).place


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], ["one", "two@1.0", "two@2"]),
        (["one"], ["one"]),
        (["two"], ["two@1.0", "two@2"]),
        (["two@2", "one"], ["one", "two@2"]),
        (["one@quiet"], ["one@quiet"]),
        (["two@loud"], ["two@1.0@loud", "two@2@loud"]),
        (["two@2@loud"], ["two@2@loud"]),
        (["two@late"], ["two@2@late"]),
        (["one*"], ["one", "one@quiet"]),
        (["*@loud", "one@*"], ["one@quiet", "two@1.0@loud", "two@2@loud"]),
    ],
)
def test_names_choose_targets(varied: Path, names: list[str], expected: list[str]) -> None:
    """A name is one target, or all its ages; a variant has to be named; no name is all targets in their first way."""
    assert expected == [target.name for target in chosen(targets(varied), names)]


def test_a_stranger_is_named(folder: Path) -> None:
    """A name that is no target is an error with the similar ones, or with those that are targets."""
    with pytest.raises(NoSuchTarget, match=r"there is no target 'two@3'; did you mean two@2 or two or two@1\.0\?"):
        chosen(targets(folder), ["one", "two@3"])
    with pytest.raises(NoSuchTarget, match=r"there is no target 'x'; there are one, two"):
        chosen(targets(folder), ["x"])


@pytest.mark.parametrize("text", ["- loud\n", "loud: here\n", "loud: [\n"])
def test_variants_that_are_none_are_refused(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file is named, by both commands that read it."""
    (folder / "one" / "variants.yaml").write_text(text, encoding="utf-8")

    assert (2, 2) == (play(["one"], folder, "smoke", []), matrix(MatrixOptions(folder=folder, plays=False)))
    assert 2 == capsys.readouterr().out.count("variants.yaml: is n")


def test_a_variant_has_its_files(varied: Path) -> None:
    """A variant has known failures and results of its own, and shares the environment of its age."""
    older, loud = targets(varied)[2:4]

    assert "two@1.0@loud" == loud.name
    assert varied / "two" / "known-failures-1.0@loud.yaml" == loud.known_failures
    assert Environment(older, varied).place == Environment(loud, varied).place
    assert Environment(older, varied).folder != Environment(loud, varied).folder


def test_a_fingerprint_changes_with_the_folder(folder: Path) -> None:
    """A changed driver makes old results stale; changed notes and known failures do not."""
    (folder / "one" / "driver.py").write_text("a = 1\n", encoding="utf-8")
    one = targets(folder)[0]
    before = one.digest
    (folder / "one" / "README.md").write_text("Notes.\n", encoding="utf-8")
    (folder / "one" / "known-failures.yaml").write_text("[]\n", encoding="utf-8")
    noted = one.digest
    (folder / "one" / "driver.py").write_text("a = 2\n", encoding="utf-8")

    assert before == noted
    assert before != one.digest


def test_a_driver_gets_its_variant(varied: Path, tmp_path: Path) -> None:
    """The variant is in the driver's surroundings, and empty for the first way, whatever was there before."""
    first, quiet = targets(varied)[:2]

    assert ["", "quiet"] == [Environment(one, tmp_path).variables[VARIANT] for one in (first, quiet)]


def test_a_target_may_be_a_server(folder: Path, tmp_path: Path) -> None:
    """One with a description is reached by that, and finds the Python of its environment; others are processes."""
    (folder / "one" / "server.yaml").touch()
    one, two, _ = (Environment(target, tmp_path) for target in targets(folder))

    assert ("server", f"server:{folder / 'one' / 'server.yaml'}") == (one.target.kind, one.line)
    assert one.variables["PATH"].startswith(f"{one.commands}{os.pathsep}")
    assert two.line.startswith(f"cmd:{two.runs_drivers} ")
    assert "PATH" not in two.variables


def test_a_target_may_be_a_program(folder: Path, tmp_path: Path) -> None:
    """A folder in programs/ has a description for each wire, and finds the commands of its environment."""
    four = folder / "programs" / "four"
    four.mkdir(parents=True)
    for file in ("package.json", "program.yaml", "program@other.yaml"):
        (four / file).touch()
    (four / "variants.yaml").write_text("other: {about: Another wire.}\n", encoding="utf-8")
    programs = [Environment(target, tmp_path) for target in targets(folder) if target.kind == "program"]

    assert [f"program:{four}/program.yaml", f"program:{four}/program@other.yaml"] == [one.line for one in programs]
    commands = str(tmp_path / "four" / "node" / "node_modules" / ".bin")
    assert {commands} == {one.variables["PATH"].split(os.pathsep)[0] for one in programs}


def test_a_target_may_be_written_in_javascript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its driver is run by Node.js, that of its packages if it has one, beside what is installed and what is shared."""
    for file in ("all/three/package.json", "all/three/driver.mjs", "all/three/other.mjs", "all/shared.mjs"):
        (tmp_path / file).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / file).touch()
    asked: list[list[str]] = []

    def call(words: list[str], cwd: Path | None = None, *, quiet: bool) -> None:
        assert quiet
        asked.append(words[1:2])
        (cwd or tmp_path / "nowhere").joinpath("node_modules", ".bin").mkdir(parents=True)

    monkeypatch.setattr(environments, "_call", call)
    (target,) = targets(tmp_path / "all")
    three = Environment(target, tmp_path / "kept")
    three.install(quiet=True)
    three.install(quiet=True)
    line, names = three.line, {path.name for path in three.place.iterdir()}
    (three.commands / "node").touch()

    assert [["install"]] == asked
    assert f"cmd:node {three.place / 'driver.mjs'}" == line
    assert {"driver.mjs", "other.mjs", "shared.mjs", "looptck-driver.mjs", "looptck-zod.mjs"} <= names
    assert three.commands / "node" == three.runs_drivers


def test_what_cannot_be_installed_says_why(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The installer's last words are the message; the next time it is tried again."""
    script = tmp_path / "uv"
    script.write_text(f"#!{sys.executable}\nprint('no such package: x')\nraise SystemExit(3)\n", encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setattr(environments, "_which", lambda _: str(script))
    one = Environment(targets(folder)[0], tmp_path / "kept")

    for _ in range(2):
        with pytest.raises(NotInstalled, match="ended with status 3: no such package: x"):
            one.install(quiet=True)


@pytest.fixture(name="started")
def _started(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """The commands that are started from now on; those of the age 1.0 find something."""
    started: list[list[str]] = []

    def run(words: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        started.append(words)
        return subprocess.CompletedProcess(words, 1 if "two@1.0" in " ".join(words) else 0)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(commands, "ENVIRONMENTS", tmp_path / "kept")
    monkeypatch.setattr(Environment, "install", lambda self: self.target)
    assert folder.is_dir()
    return started


def _target(folder: Path, *words: str) -> int:
    return CliRunner().invoke(main, ["target", *words, "--targets", str(folder)]).exit_code


def test_options_are_passed_on(folder: Path, started: list[list[str]]) -> None:
    """What `looptck target` does not know are options of `looptck run`."""
    assert 0 == _target(folder, "one", "--profile", "two", "-q")
    assert ["--profile", "two", "-q"] == started[0][-3:]
    assert "run" in started[0]


def test_drivers_can_be_tried_out(folder: Path, started: list[list[str]]) -> None:
    """With --smoke the driver is tried out, and no results are written."""
    assert 0 == _target(folder, "one", "--smoke", "--timeout", "60")
    assert "smoke" in started[0]
    assert "--json" not in started[0]


def test_one_finding_is_a_finding(folder: Path, started: list[list[str]]) -> None:
    """The exit status is 1 if one run was not clean, whatever came after it."""
    assert [0, 1] == [_target(folder, "two@2"), _target(folder, "two")]
    assert 3 == len(started)


def test_a_stranger_ends_the_command(folder: Path, started: list[list[str]]) -> None:
    """A name that is no target is status 2, and nothing runs."""
    assert 2 == _target(folder, "three")
    assert [] == started


def test_targets_are_values(folder: Path) -> None:
    """Equal targets are one, so that sets of them work."""
    assert set(targets(folder)) == {*targets(folder), Target(folder / "one")}
