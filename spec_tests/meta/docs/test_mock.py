"""The pages on the mock tell the truth: every example runs, and the output is what is printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from looptck.mock.findings import KINDS
from looptck.mock.script_file import read_text
from looptck.mock.serving import Serving
from looptck.provider.server import Provider
from looptck.values.framing import PRESETS
from meta.docs.pages import LOOP, PAGES, Block, between, block, blocks, rows

MOCK, SERVE = "docs/mock.md", "docs/serve.md"
SUITE = "looptck.check("
FORGETFUL = "        messages.append(message.model_dump(exclude_none=True))\n"
"""The line that the agent of the example forgets."""
PROGRAM = """
import json, os, urllib.error, urllib.request
def ask(*messages):
    body = json.dumps({"model": "m", "messages": messages}).encode()
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]["tool_calls"][0]
user = {"role": "user", "content": "How is Paris?"}
call = ask(user)
try:
    ask(user, {"role": "tool", "tool_call_id": call["id"], "content": "21"})
except urllib.error.HTTPError as refused:
    refused.close()
"""


def _examples(page: str) -> list[Block]:
    return [one for one in blocks("python") if one.page == page]


def _pytest(folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    env = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=env).stdout


def _written(folder: Path, agent: str) -> None:
    """Write the agent of the page, and each of its examples that is a test."""
    (folder / "agent.py").write_text(agent, encoding="utf-8")
    for number, one in enumerate(_examples(MOCK)):
        if "def test_" in one.text and SUITE not in one.text:
            (folder / f"test_{number}.py").write_text(one.text, encoding="utf-8")


def test_the_examples_of_the_page_pass(tmp_path: Path) -> None:
    """Each example is a test that passes as it stands, with the agent of the page."""
    _written(tmp_path, block(MOCK, "# agent.py"))
    count = sum(text.read_text("utf-8").count("def test_") for text in tmp_path.glob("test_*.py"))

    printed = _pytest(tmp_path)

    assert printed.splitlines()[-1].startswith(f"{count} passed"), printed


def test_the_failure_of_the_page_is_one(tmp_path: Path) -> None:
    """An agent that forgets the message with the calls fails with the text that the page shows."""
    agent = block(MOCK, "# agent.py")
    assert FORGETFUL in agent
    _written(tmp_path, agent.replace(FORGETFUL, ""))

    printed = _pytest(tmp_path, "-k", "test_the_tool_is_asked")

    assert block(MOCK, "request 2 would be refused") in printed


def test_the_suite_as_a_test(tmp_path: Path) -> None:
    """The example of the suite runs, here for one requirement."""
    (tmp_path / "mypkg.py").write_text(LOOP, encoding="utf-8")
    (tmp_path / "test_suite.py").write_text(block(MOCK, SUITE), encoding="utf-8")

    assert "1 passed" in _pytest(tmp_path, "-k", "every-call-is-answered")


def test_the_tables_are_complete() -> None:
    """The kinds of findings and the framings of the page are those that there are."""
    assert [f"`{kind}`" for kind in KINDS] == [row[0].strip("| ") for row in rows(MOCK, "kind")]
    assert list(PRESETS) == re.findall(r"`([\w-]+)`", between(MOCK, "framings"))


def test_the_output_of_serve(tmp_path: Path) -> None:
    """What the page shows is what is printed for a program that forgets its call."""
    script = tmp_path / "script.yaml"
    script.write_text("script:\n- calls: [{tool: weather, arguments: {city: Paris}}]\n- Mild.\n", encoding="utf-8")
    command = [sys.executable, "-m", "looptck.cli", "serve", "--port", "0", "--script", str(script), "--"]
    done = subprocess.run(
        [*command, sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=60
    )
    printed = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8642", done.stdout)

    assert 1 == done.returncode
    assert block(SERVE, "looptck answers") in printed


def test_the_control_api(tmp_path: Path) -> None:
    """The example of the control API runs against a served script."""
    with Provider(0, Serving(read_text("none", "script: [x]")).answer) as provider:
        exec(block(SERVE, "/looptck/verdicts"), {"SERVED": provider.origin})  # noqa: S102  the example is ours


def test_every_example_is_run() -> None:
    """There is no example on these pages that the tests above leave out."""
    assert all("def test_" in one.text or "# agent.py" in one.text for one in _examples(MOCK))
    assert 1 == len(_examples(SERVE))
    assert "docs/mock.md" in PAGES
