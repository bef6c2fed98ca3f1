"""Somebody's tests, in an environment that has looptck: the plugins load nothing, and leave two names there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PLUGIN = {
    "looptck",
    "looptck.mock",
    "looptck.mock.kept",
    "looptck.mock.plugin",
    "looptck.suite",
    "looptck.suite.plugin",
    "looptck.suite.questions",
    "looptck.suite.trait_plugin",
}
PROGRAM = """
import sys, pytest
status = pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]])
print(status, *sorted(name for name in sys.modules if name.partition(".")[0] in {"looptck", "looptck_reference"}))
"""


def pytest_in(folder: Path, *words: str) -> list[str]:
    """What pytest prints for a project with one test, and behind it the modules of ours that it has loaded."""
    (folder / "test_theirs.py").write_text("def test_theirs(): pass\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_nothing_is_loaded(tmp_path: Path) -> None:
    """The plugins are all that is imported of looptck."""
    *_, last = pytest_in(tmp_path)

    assert ["0", *sorted(PLUGIN)] == last.split()


def test_two_fixtures_are_there(tmp_path: Path) -> None:
    """Names such as `server` and `session` are free."""
    lines = pytest_in(tmp_path, "--fixtures")

    assert ["llm", "looptck_llm"] == sorted(line.split()[0] for line in lines[:-1] if "mock/plugin.py" in line)
