"""`looptck.check` makes the suite one test of somebody's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from meta.docs.pages import LOOP

TESTS = """
import looptck
from looptck.driver import handlers

@looptck.check(wires=["openai-chat"], limit=True)
def test_mine(case):
    functions = handlers(case)
    tools = [(tool, functions[tool["name"]]) for tool in case["tools"] if tool["name"] in functions]
    place = case["base_url"], case["api_key"], case["model"]
    return run_loop(*place, case["messages"], tools, case["options"].get("limit"))
"""
RIGHT, WRONG, ABSENT = "every-call-is-answered", "truncated-answer-is-told", "bound-parameters-are-hidden"


def _pytest(folder: Path, *words: str) -> str:
    (folder / "test_agent.py").write_text(LOOP + TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def test_each_requirement_is_an_item(tmp_path: Path) -> None:
    """An item passes or fails as its requirement does; a failure has the evidence and a command."""
    printed = _pytest(tmp_path, "-k", f"{RIGHT} or {WRONG}", "-n", "2")

    assert "1 failed, 1 passed" in printed
    assert f"test_mine[{WRONG}]" in printed
    assert "as if that were a complete answer" in printed
    assert "again: looptck run --driver python:" in printed


def test_a_whole_profile_is_collected(tmp_path: Path) -> None:
    """Every requirement that fits what the agent declares is an item, and none that needs more."""
    printed = _pytest(tmp_path, "--collect-only")

    assert printed.count("test_mine[") > 50
    assert f"test_mine[{RIGHT}]" in printed
    assert ABSENT not in printed


def test_an_agent_that_cannot_be_loaded(tmp_path: Path) -> None:
    """Where the suite cannot run, every item says why."""
    (tmp_path / "broken.py").write_text("import os\nassert 'PYTEST_VERSION' in os.environ\n", encoding="utf-8")
    (tmp_path / "test_it.py").write_text("import broken\n" + TESTS, encoding="utf-8")
    printed = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py", "-k", RIGHT],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    ).stdout

    assert "the suite could not run" in printed
    assert "AssertionError" in printed
