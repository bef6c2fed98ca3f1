"""What runs the kit against real implementations: their names, their ages, and the files that go with each."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from targets import run as runner

Ran = list[tuple[str, list[str]]]


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

    def run(target: runner.Target, python: Path, options: list[str]) -> int:
        ran.append((target.name, options))
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

    assert expected == [name for name, _ in ran]


def test_options_are_passed_on(ran: Ran) -> None:
    """What follows the first dash goes to `looptck run`, be it the value of an option."""
    runner.main(["one", "--profile", "two"])

    assert [("one", ["--profile", "two"])] == ran


def test_one_finding_is_a_finding(ran: Ran) -> None:
    """The exit status is 1 if one run was not clean, whatever came after it."""
    assert 0 == runner.main(["two@2"])
    assert 1 == runner.main(["two"])


def test_a_stranger_is_named(ran: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    """A name that is no target is told beside those that are, and nothing runs."""
    assert 2 == runner.main(["one", "two@3"])
    assert "no such target: two@3; there are one, two, two@1.0, two@2\n" == capsys.readouterr().err
    assert [] == ran


def test_a_target_may_be_a_server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One with a description is reached by that, and finds the Python of its environment; others are processes."""
    (folder / "one" / "server.yaml").touch()
    lines: list[tuple[str, str]] = []

    def run(command: list[str], *, env: dict[str, str], check: bool) -> subprocess.CompletedProcess[str]:
        lines.append((command[command.index("--driver") + 1], env["PATH"].split(os.pathsep)[0]))
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    one, two, _ = runner.targets()
    runner.run(one, Path("/env/bin/python"), [])
    runner.run(two, Path("/env/bin/python"), [])

    (server, path), (process, other) = lines
    assert (f"server:{folder / 'one' / 'server.yaml'}", "/env/bin") == (server, path)
    assert process.startswith("cmd:/env/bin/python ")
    assert "/env/bin" != other


def test_every_file_belongs_to_a_target() -> None:
    """No file of known failures is passed over for its name, and every target has a driver."""
    known = runner.targets()
    files = set(runner.TARGETS.glob("*/known-failures*"))

    assert set() == files - {target.known_failures for target in known}
    assert [] == [target.name for target in known if not (target.folder / "driver.py").is_file()]
