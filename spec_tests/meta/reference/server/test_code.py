"""Code execution: programs in a process of their own, their limits, and the files that they leave."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from looptck_reference.server import DOCUMENT, PythonLimits
from looptck_reference.server.entry import CODE_TOOL
from meta.reference.server.serving import World, call, turn

LISTED = replace(DOCUMENT, captures="listed")


def program(code: str, *outputs: str) -> dict[str, Any]:
    """A call that runs this."""
    return call(CODE_TOOL, {"code": code, "outputs": list(outputs)})


def execute(world: Callable[..., World], *calls: dict[str, Any], **more: Any) -> tuple[list[str], dict[str, Any]]:
    """What the model reads of each execution, and the plain response."""
    files = more.pop("files", None)
    here = world(*(turn(None, one) for one in calls), turn("Done."), code=True, **more)
    response = here.chat(enable_code_execution=True, files=files)
    assert 200 == response.status_code, response.text
    return [one["content"] for one in here.outside.histories[-1] if one["role"] == "tool"], response.json()


def test_what_is_printed_is_the_result(world: Callable[..., World]) -> None:
    """Both streams."""
    (text,), _ = execute(world, program("import sys\nprint('out')\nprint('err', file=sys.stderr)"))

    assert "stdout: out\n\nstderr: err\n" == text


def test_an_exception_is_told(world: Callable[..., World]) -> None:
    """The last line of the traceback by itself."""
    (text,), _ = execute(world, program("1 / 0"))

    assert "exception: ZeroDivisionError: division by zero" in text.splitlines()


@pytest.mark.parametrize(
    "arguments", ["{", {}, {"code": 1}, {"code": "1", "outputs": "a"}, {"code": "1", "outputs": [1]}]
)
def test_arguments_that_do_not_fit_are_told(world: Callable[..., World], arguments: Any) -> None:
    """Nothing is run."""
    (text,), _ = execute(world, call(CODE_TOOL, arguments))

    assert text.startswith("exception: Invalid arguments: ")


def test_an_endless_program_ends_at_its_timeout(world: Callable[..., World]) -> None:
    """And all that it has started."""
    code = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'while True: pass'])\nwhile True: pass"
    (text,), _ = execute(world, program(code), python=PythonLimits(seconds=0.3))

    assert "exception: timed out after 0.3 s" == text


REST = "import subprocess, sys\nrest = 'import threading; threading.Event().wait()'\n"
"""The beginning of a program that starts others, which never end."""


@pytest.mark.parametrize("late", [False, True], ids=["ends", "late"])
def test_who_has_left_the_program_s_group_is_ended(world: Callable[..., World], late: bool) -> None:
    """Even if it still holds the output, and has no parent any more."""
    code = f"{REST}print(subprocess.Popen([sys.executable, '-c', rest], start_new_session=True).pid, flush=True)\n"
    code += "while True: pass" if late else ""

    (text,), _ = execute(world, program(code), python=PythonLimits(seconds=2.0 if late else 30.0))

    assert "stdout: " == text[:8]
    with pytest.raises(ProcessLookupError):
        os.kill(int(text[8:].split()[0]), 0)


def test_processes_are_bounded(world: Callable[..., World]) -> None:
    """All that a program has started at the same time, wherever it has gone to."""
    code = f"{REST}for _ in range(9): subprocess.Popen([sys.executable, '-c', rest], start_new_session=True)"
    code += "\nwhile True: pass"

    (text,), _ = execute(world, program(code), python=PythonLimits(processes=5))

    assert "exception: killed by SIGKILL" == text


def test_memory_is_bounded_over_all_processes(world: Callable[..., World]) -> None:
    """Each has less than the limit, and together they have more."""
    code = f"{REST}rest = 'x = b\"x\" * 80_000_000; ' + rest\n"
    code += "for _ in range(4): subprocess.Popen([sys.executable, '-c', rest])\nwhile True: pass"

    (text,), _ = execute(world, program(code), python=PythonLimits(memory=250_000_000))

    assert "exception: killed by SIGKILL" == text


def test_what_code_has_set_is_there_for_the_session(world: Callable[..., World]) -> None:
    """Values and modules, also after an exception, in the next call and in the next request; not in another session."""
    here = world(code=True)

    def told(code: str, session: str) -> str:
        here.outside.plays(turn(None, program(code)), turn("Done."))
        body = here.chat(enable_code_execution=True, session_id=session).json()
        return str(body["agentic_tool_calls"][0]["result_content"])

    first = told("import math\nx, f, g = 40, lambda: 1, (n for n in ())\n1 / 0", "a")
    told("x += 1", "a")

    assert "ZeroDivisionError" in first
    assert "stdout: 42 3\n" == told("print(x + 1, math.floor(math.pi))", "a")
    assert "NameError" in told("print(x)", "b")
    assert "NameError" in told("f()", "a")


@pytest.mark.parametrize(
    "code", ["x = 'a' * 3_000_000", "import os, sys\nos.remove(sys.orig_argv[-1])", "import os\nx = 2\nos._exit(0)"]
)
def test_state_that_cannot_be_kept_is_not(world: Callable[..., World], code: str) -> None:
    """What was kept before stays."""
    texts, _ = execute(world, program("x = 1"), program(code), program("print(x)"))

    assert "stdout: 1\n" == texts[2]


def test_memory_is_bounded(world: Callable[..., World]) -> None:
    """The program sees an error of its own."""
    (text,), _ = execute(world, program("x = bytearray(300_000_000)"), python=PythonLimits(memory=200_000_000))

    assert "exception: MemoryError" in text


def test_output_is_bounded(world: Callable[..., World]) -> None:
    """What is left out is counted."""
    (text,), _ = execute(world, program("print('x' * 999)"), python=PythonLimits(output=100))

    assert f"stdout: {'x' * 100}\n[900 bytes left out]" == text


def test_written_files_are_bounded(world: Callable[..., World]) -> None:
    """A larger one cannot be written."""
    (text,), _ = execute(world, program("open('a', 'wb').write(b'x' * 9000)", "a"), python=PythonLimits(file=1000))

    assert "exception: OSError: [Errno 27] File too large" in text


def test_the_server_s_environment_is_not_the_program_s(
    world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys stay where they are."""
    monkeypatch.setenv("SECRET_KEY", "secret")

    (text,), _ = execute(world, program("import os\nprint(sorted(set(os.environ) - {'LC_CTYPE'}))"))

    assert "stdout: ['HOME', 'PATH', 'PYTHONIOENCODING', 'TMPDIR']\n" == text


def test_the_working_directory_is_the_run_s(world: Callable[..., World]) -> None:
    """Later rounds find what earlier ones left; nothing is left behind the run."""
    write = program("import os\nopen('a.txt', 'w').write('kept')\nprint(os.getcwd())")

    (first, second), _ = execute(world, write, program("print(open('a.txt').read())"), dialect=LISTED)

    directory = Path(first.removeprefix("stdout: ").strip())
    assert ("stdout: kept\n", "work", False) == (second, directory.name, directory.exists())


def test_listed_files_are_captured(world: Callable[..., World]) -> None:
    """With text where they are text; the model is told of them, and of those that are not there."""
    code = "open('a.txt', 'w').write('hé')\nopen('b.bin', 'wb').write(b'\\xff')\nopen('c', 'w').write('c')"

    (text,), body = execute(world, program(code, "a.txt", "b.bin", "d.txt"), dialect=LISTED)

    first, second = body["files"]
    assert ("a.txt", "hé", "text/plain", 3) == tuple(first[name] for name in ("name", "text", "mime_type", "bytes"))
    assert ("b.bin", "/w==") == (second["name"], second["data_base64"])
    assert "output d.txt was not captured: there is no such file" in text
    assert f"- a.txt ({first['id']}, 3 bytes)" in text


@pytest.mark.parametrize("name", ["/etc/hostname", "../main.py", "link", ".", "", "a\0b"])
def test_nothing_outside_of_the_directory_is_captured(world: Callable[..., World], name: str) -> None:
    """Neither by its name nor by a link."""
    (text,), body = execute(world, program("import os\nos.symlink('/etc/hostname', 'link')", name))

    assert "was not captured" in text
    assert "files" not in body


def test_new_files_are_captured(world: Callable[..., World]) -> None:
    """New or changed ones, once; links are left alone."""
    first = program("open('a', 'w').write('1')\nimport os\nos.symlink('/etc/hostname', 'link')")
    again = program("open('a', 'w').write('changed')\nos = __import__('os')\nos.mkdir('d')\nopen('d/b', 'w')")

    _, body = execute(world, first, again, program("pass"))

    assert [(0, "a"), (1, "a"), (1, "d/b")] == [(one["source"]["round"], one["name"]) for one in body["files"]]


def test_files_of_the_request_are_in_the_directory(world: Callable[..., World]) -> None:
    """Written there before the first program runs."""
    files = [{"name": "a.txt", "text": "one"}, {"name": "b.bin", "data_base64": "/w=="}]

    (text,), _ = execute(world, program("print(open('a.txt').read(), open('b.bin', 'rb').read())"), files=files)

    assert "stdout: one b'\\xff'\n" == text
