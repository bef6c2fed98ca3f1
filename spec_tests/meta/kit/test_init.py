"""``looptck init``: what it writes passes the smoke test as soon as its one line calls a loop."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from looptck.cli.group import main
from looptck.commands.init import write
from meta.docs.pages import LOOP, ROOT

PYTHON_LINE = 'raise NotImplementedError("call your loop here")'
JAVASCRIPT_LINE = "throw new Error('call your loop here');"
PYTHON_CALL = (
    "from theirs import run_loop; tools = [(tool, functions[tool['name']]) for tool in case['tools'] if tool['url']]; "
    "return run_loop(case['base_url'], case['api_key'], case['model'], case['messages'], tools)"
)
JAVASCRIPT_CALL = "const { runLoop } = await import('./theirs.mjs'); return runLoop(scenario, functions);"
JAVASCRIPT_LOOP = """
export async function runLoop({ base_url, api_key, model, messages, tools }, functions) {
  const history = [...messages];
  const offered = tools.map(({ name, description, parameters }) => {
    return { type: 'function', function: { name, description, parameters } };
  });
  for (;;) {
    const body = JSON.stringify({ model, messages: history, tools: offered });
    const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' };
    const response = await fetch(`${base_url}/chat/completions`, { method: 'POST', body, headers });
    const { message } = (await response.json()).choices[0];
    history.push(message);
    if (!message.tool_calls) return message.content;
    for (const { id, function: { name, arguments: text } } of message.tool_calls) {
      const result = await functions[name](JSON.parse(text));
      history.push({ role: 'tool', tool_call_id: id, content: JSON.stringify(result) });
    }
  }
}
"""


def _smoke(driver: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "looptck.cli", "smoke", "--driver", driver]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return ran.returncode, ran.stdout + ran.stderr


def _call(path: Path, line: str, call: str) -> None:
    """Write the one line of a driver."""
    text = path.read_text(encoding="utf-8")
    assert 1 == text.count(line)
    path.write_text(text.replace(line, call), encoding="utf-8")


def test_a_python_class(tmp_path: Path) -> None:
    """A class in this environment."""
    made = write("python", tmp_path / "new")
    (tmp_path / "new" / "theirs.py").write_text(LOOP, encoding="utf-8")
    _call(made.files[0], PYTHON_LINE, PYTHON_CALL)

    status, printed = _smoke(made.driver)

    assert 0 == status, printed


def test_a_python_process(tmp_path: Path) -> None:
    """The class in an environment without looptck: a Python that has nothing but its standard library."""
    made = write("process", tmp_path)
    (tmp_path / "theirs.py").write_text(LOOP, encoding="utf-8")
    _call(made.files[0], PYTHON_LINE, PYTHON_CALL)

    status, printed = _smoke(made.driver.replace("cmd:python", f"cmd:{sys.executable} -S -E", 1))

    assert 0 == status, printed


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_a_javascript_process(tmp_path: Path) -> None:
    """A program in Node.js."""
    made = write("javascript", tmp_path)
    (tmp_path / "theirs.mjs").write_text(JAVASCRIPT_LOOP, encoding="utf-8")
    _call(made.files[0], JAVASCRIPT_LINE, JAVASCRIPT_CALL)

    status, printed = _smoke(made.driver)

    assert 0 == status, printed


def test_what_is_copied_is_the_package(tmp_path: Path) -> None:
    """A driver in JavaScript has the module and the types of the package beside it."""
    made = write("javascript", tmp_path)

    package = ["looptck-driver.mjs", "looptck-driver.d.mts", "looptck-zod.mjs"]
    assert ["driver.mjs", *package] == [path.name for path in made.files]
    for path in made.files[1:]:
        assert (ROOT / "drivers" / "javascript" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("kind", ["python", "process", "javascript"])
def test_a_driver_without_its_line_is_told(tmp_path: Path, kind: str) -> None:
    """The smoke test of a driver as it was written says that the line is missing."""
    if kind == "javascript" and shutil.which("node") is None:
        pytest.skip("needs Node.js")
    made = write(kind, tmp_path)  # type: ignore[arg-type]

    status, printed = _smoke(made.driver.replace("cmd:python", f"cmd:{sys.executable}", 1))

    assert 1 == status
    assert "call your loop here" in printed


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A file that is there stays, and nothing is written beside it."""
    (tmp_path / "looptck_driver.py").write_text("mine", encoding="utf-8")

    done = CliRunner().invoke(main, ["init", str(tmp_path), "--process"])

    assert 2 == done.exit_code
    assert "looptck_driver.py exists already; no file was written" in done.output
    assert ["looptck_driver.py"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("name", ["driver.py", "my_driver.mjs"])
def test_the_name_of_a_file_is_refused(tmp_path: Path, name: str) -> None:
    """It would become a folder."""
    result = CliRunner().invoke(main, ["init", str(tmp_path / name)])

    assert (2, []) == (result.exit_code, [*tmp_path.iterdir()])
    assert "is the name of a file, and init wants that of a folder" in result.output


def test_the_commands_are_printed(tmp_path: Path) -> None:
    """What is to be done next stands behind the names of the files."""
    done = CliRunner().invoke(main, ["init", str(tmp_path)])

    assert 0 == done.exit_code
    assert f'looptck run --driver "python:{tmp_path / "driver.py"}:Driver"' in done.output
