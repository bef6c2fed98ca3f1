"""What runs the kit against real implementations: their names, ages and variants, and the files that go with each."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from targets import run as runner

Ran = list[tuple[str, list[str]]]
COLUMNS = ["option", "what the driver does", "default or set", "why", "variant"]


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two targets, one of them of two ages."""
    for file in ("one/requirements.txt", "two/requirements-1.0.txt", "two/requirements-2.txt"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    monkeypatch.setattr(runner, "TARGETS", tmp_path)
    return tmp_path


@pytest.fixture(name="ran")
def _ran(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Ran:
    """The targets that were run and with what options; those of the age 1.0 are not clean."""
    ran: Ran = []

    def run(target: runner.Target, program: Path, options: list[str], command: str) -> int:
        ran.append((f"{command} {target.name}", options))
        return 1 if target.age == "1.0" else 0

    monkeypatch.setattr(runner, "run", run)
    monkeypatch.setattr(runner, "environment", lambda target: target.kept)
    return ran


def test_a_target_has_its_files(folder: Path) -> None:
    """A target without ages has files without them."""
    one = runner.targets()[0]

    assert ("one", folder / "one" / "requirements.txt") == (one.name, one.requirements)
    assert folder / "one" / "known-failures.yaml" == one.known_failures


def test_an_age_has_its_files(folder: Path) -> None:
    """Each age of a target has a name, requirements, known failures and an environment of its own."""
    older, newer = runner.targets()[1:]

    assert ("two@1.0", "two@2") == (older.name, newer.name)
    assert folder / "two" / "requirements-1.0.txt" == older.requirements
    assert folder / "two" / "known-failures-1.0.yaml" == older.known_failures
    assert older.kept != newer.kept


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], ["one", "two@1.0", "two@2"]),
        (["one"], ["one"]),
        (["two"], ["two@1.0", "two@2"]),
        (["two@2", "one"], ["one", "two@2"]),
    ],
)
def test_names_choose_targets(ran: Ran, names: list[str], expected: list[str]) -> None:
    """A name is one target, or all its ages; no name is all targets."""
    runner.main(names)

    assert [f"run {name}" for name in expected] == [name for name, _ in ran]


def test_options_are_passed_on(ran: Ran) -> None:
    """What follows the first dash goes to `looptck run`, be it the value of an option."""
    runner.main(["one", "--profile", "two"])

    assert [("run one", ["--profile", "two"])] == ran


def test_drivers_can_be_tried_out(ran: Ran) -> None:
    """The word `smoke` in front is no name: it has the drivers of the names behind it tried out."""
    runner.main(["smoke", "one", "--timeout", "60"])

    assert [("smoke one", ["--timeout", "60"])] == ran


def test_one_finding_is_a_finding(ran: Ran) -> None:
    """The exit status is 1 if one run was not clean, whatever came after it."""
    assert 0 == runner.main(["two@2"])
    assert 1 == runner.main(["two"])


def test_a_stranger_is_named(ran: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    """A name that is no target is told beside those that are, and nothing runs."""
    assert 2 == runner.main(["one", "two@3"])
    assert "no such target: two@3; there are one, two, two@1.0, two@2\n" == capsys.readouterr().err
    assert [] == ran


@pytest.fixture(name="varied")
def _varied(folder: Path) -> Path:
    """The same folder, where both targets have variants, one of them at one age."""
    (folder / "one/variants.yaml").write_text("quiet: {about: It says less.}\n", encoding="utf-8")
    two = 'loud: {about: It says more.}\nlate: {about: It is late., ages: ["2"]}\n'
    (folder / "two/variants.yaml").write_text(two, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], ["one", "two@1.0", "two@2"]),
        (["one"], ["one"]),
        (["one@quiet"], ["one@quiet"]),
        (["two@loud"], ["two@1.0@loud", "two@2@loud"]),
        (["two@2@loud"], ["two@2@loud"]),
        (["two@late"], ["two@2@late"]),
        (["one*"], ["one", "one@quiet"]),
        (["*@loud", "one@*"], ["one@quiet", "two@1.0@loud", "two@2@loud"]),
    ],
)
def test_variants_run_where_they_are_named(varied: Path, ran: Ran, names: list[str], expected: list[str]) -> None:
    """A variant is run only by its name or a pattern that it fits, at all ages that have it or at one."""
    assert varied.is_dir()
    runner.main(names)

    assert [f"run {name}" for name in expected] == [name for name, _ in ran]


def test_a_variant_has_its_files(varied: Path) -> None:
    """A variant has known failures and results of its own, and shares the environment of its age."""
    older, loud = runner.targets()[2:4]

    assert "two@1.0@loud" == loud.name
    assert varied / "two" / "known-failures-1.0@loud.yaml" == loud.known_failures
    assert older.place == loud.place
    assert older.kept != loud.kept


def _lines(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, str]]]:
    """The drivers and surroundings of what is started from now on."""
    lines: list[tuple[str, dict[str, str]]] = []

    def run(command: list[str], *, env: dict[str, str], check: bool) -> subprocess.CompletedProcess[str]:
        assert not check
        lines.append((command[command.index("--driver") + 1], env))
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    return lines


def test_a_driver_is_told_its_variant(varied: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The variant is in the driver's surroundings, and empty for the first way, whatever was there before."""
    assert varied.is_dir()
    monkeypatch.setenv(runner.VARIANT, "stale")
    monkeypatch.setattr(runner, "KEPT", tmp_path / "kept")
    lines = _lines(monkeypatch)
    first, quiet = runner.targets()[:2]
    runner.run(first, Path("/env/bin/python"), [])
    runner.run(quiet, Path("/env/bin/python"), [])

    assert ["", "quiet"] == [env[runner.VARIANT] for _, env in lines]


def test_a_target_may_be_a_server(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One with a description is reached by that, and finds the Python of its environment; others are processes."""
    (folder / "one" / "server.yaml").touch()
    monkeypatch.setattr(runner, "KEPT", tmp_path / "kept")
    lines = _lines(monkeypatch)
    one, two, _ = runner.targets()
    runner.run(one, Path("/env/bin/python"), [])
    runner.run(two, Path("/env/bin/python"), [])

    (server, own), (process, other) = lines
    assert (f"server:{folder / 'one' / 'server.yaml'}", "/env/bin") == (server, own["PATH"].split(os.pathsep)[0])
    assert process.startswith("cmd:/env/bin/python ")
    assert "/env/bin" != other["PATH"].split(os.pathsep)[0]


def test_a_target_may_be_a_program(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder in programs/ has a description for each wire, and finds the commands of its environment."""
    four = folder / "programs" / "four"
    four.mkdir(parents=True)
    for file in ("package.json", "program.yaml", "program@other.yaml"):
        (four / file).touch()
    (four / "variants.yaml").write_text("other: {about: Another wire.}\n", encoding="utf-8")
    monkeypatch.setattr(runner, "KEPT", tmp_path / "kept")
    lines = _lines(monkeypatch)
    for target in [target for target in runner.targets() if target.is_program]:
        runner.run(target, Path("node"), [])

    assert [f"program:{four}/program.yaml", f"program:{four}/program@other.yaml"] == [driver for driver, _ in lines]
    commands = str(tmp_path / "kept" / "four" / "node" / "node_modules" / ".bin")
    assert {commands} == {own["PATH"].split(os.pathsep)[0] for _, own in lines}


def test_a_target_may_be_written_in_javascript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One with a package is run by Node.js, that of its packages if it has one, beside what was installed."""
    monkeypatch.setattr(runner, "TARGETS", tmp_path)
    monkeypatch.setattr(runner, "KEPT", tmp_path / "kept")
    for file in ("three/package.json", "three/driver.mjs", "three/other.mjs"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    monkeypatch.setattr(runner, "_npm", lambda _, place: (place / "node_modules" / ".bin").mkdir(parents=True))
    (three,) = runner.targets()
    there = runner.environment(three)
    (three.place / "node_modules" / ".bin" / "node").touch()

    assert Path("node") == there
    assert three.place / "node_modules" / ".bin" / "node" == runner.environment(three)
    assert f"cmd:node {three.place / 'driver.mjs'}" == runner.line(three, there)
    assert {"driver.mjs", "other.mjs", "looptck-driver.mjs"} <= {path.name for path in three.place.iterdir()}


def test_every_file_belongs_to_a_target() -> None:
    """No file of known failures is passed over for its name, and every target has a driver."""
    known = runner.targets()
    files = {*runner.TARGETS.glob("*/known-failures*"), *runner.TARGETS.glob("programs/*/known-failures*")}

    assert set() == files - {target.known_failures for target in known}
    assert [] == [target.name for target in known if not target.driver.is_file()]


FIRST = [target for target in runner.targets() if target.variant is None]
FOLDERS = sorted({target.folder for target in FIRST})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_driver_says_what_it_chooses(folder: Path) -> None:
    """Beside each driver is a table of its choices: what is set has a reason, and each variant changes one of them."""
    rows = _table(folder / "README.md")
    changed = [name for row in rows for name in re.findall("`(.*?)`", row["variant"])]
    unfounded = [row["option"] for row in rows if row["default or set"] == "set" and not row["why"]]

    assert {"default", "set"} == {row["default or set"] for row in rows}
    assert [] == unfounded
    assert set(_variants(folder)) == set(changed)


def _table(readme: Path) -> list[dict[str, str]]:
    lines = [line for line in readme.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]

    assert COLUMNS == cells[0]
    return [dict(zip(COLUMNS, row, strict=True)) for row in cells[1:]]


def _variants(folder: Path) -> dict[str, Any]:
    file = folder / "variants.yaml"
    return yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_variant_is_one(folder: Path) -> None:
    """A variant says what it is about, is one that the driver asks for, and has the ages of its target alone."""
    shared = list(folder.parent.glob(f"{folder.name.partition('_')[0]}_*.py"))
    source = "".join(path.read_text(encoding="utf-8") for path in [*folder.glob("driver.*"), *shared])
    source += "".join(f'"{path.stem.partition("@")[2]}"' for path in folder.glob("program@*.yaml"))
    ages = {target.age for target in FIRST if target.folder == folder}

    for name, one in _variants(folder).items():
        assert {"about"} == one.keys() - {"ages"}
        assert set(one.get("ages", [])) <= ages
        assert re.search(rf"""["']{name}["']""", source), name
