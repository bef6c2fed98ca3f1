"""What somebody types who uses looptck for the first time: the message has what was meant, and nothing is green."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from meta.kit.commands import run

ROW = "call-runs-its-tool-once"
Ended = subprocess.CompletedProcess[str]
NARROW = ["--requirement", ROW, "--cell", "openai-chat/plain/sync", "--case", "one-call"]
REFERENCE = "looptck_reference.kit.driver"
LOOP = f"""from {REFERENCE} import Driver as Given


class Mine(Given):
    pass


class NoStart:
    def run(self, case, emit):
        return None


class Awaited(Given):
    async def run(self, case, emit):
        return None


class Plain(Given):
    def start(self):
        return super().start() | {{"capabilities": {{}}, "profiles": [], "modes": ["sync"]}}
"""
SERVER = """name: mine
version: "1.0"
wires: [openai-chat]
capabilities: [dispatch, upstraem]
command: [python]
setups:
  usual: []
"""


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with the files of a newcomer."""
    (tmp_path / "mine.py").write_text(LOOP, "utf-8")
    (tmp_path / "mine.mjs").write_text("", "utf-8")
    (tmp_path / "mine.yaml").write_text(SERVER, "utf-8")
    (tmp_path / "broken.py").write_text("import there_is_no_such_module\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "--driver", "mine.py"], "did you mean python:mine.py:Driver?"),
        (["run", "--driver", "mine.py:Mine"], "did you mean python:mine.py:Mine?"),
        (["run", "--driver", "python:mine.py"], "did you mean python:mine.py:Driver?"),
        (["run", "--driver", "pyhton:mine.py:Mine"], "did you mean python:mine.py:Mine?"),
        (["run", "--driver", "mine.mjs"], "did you mean 'cmd:node mine.mjs'?"),
        (["run", "--driver", "mine.yaml"], "did you mean server:mine.yaml?"),
        (["run", "--driver", "http://127.0.0.1:9"], "did you mean server:http://127.0.0.1:9?"),
        (["run", "--driver", "server:127.0.0.1:9"], "write server:http://127.0.0.1:9"),
        (["run", "--driver", ""], "--driver is empty, as an unset variable is"),
        (["run", "--driver", "python:mine:Mine"], "mend: name the file: python:mine.py:Mine"),
        (["run", "--driver", "python:mine.py:Mien"], "mend: it has "),
        (["run", "--driver", "python:mine.py:NoStart"], "NoStart has no method start; declare `def start(self)`"),
        (["run", "--driver", "cmd:mine.mjs"], "mend: say what runs the file: cmd:node mine.mjs"),
        (["run", "--driver", "cmd:nodee mine.mjs"], "mend: there is no program nodee in the folders of PATH"),
        (["run", "--driver", "cmd:node 'mine.mjs"], "mend: each quote needs its second one"),
        (["run", "--driver", "server:mine.yaml"], '"upstraem" is not one of dispatch, upstream, '),
        (["run", "python:mine.py:Mine"], "an implementation is named by --driver"),
        (["serve", "one-call"], "one-call is a case and no program: write --case one-call"),
        (["serve", "mine.yaml"], "mine.yaml is no program: write --script mine.yaml"),
        (["list", "--profile", "cor"], "did you mean core?"),
    ],
)
def test_what_was_meant_is_told(words: list[str], told: str) -> None:
    """A word in the wrong place, a form that is none, and a name that is nearly right."""
    status, printed = run(*words)

    assert (2, True) == (status, told in printed), printed


@pytest.mark.usefixtures("folder")
def test_a_traceback_is_the_drivers_own() -> None:
    """Of a module that cannot be imported it begins in the driver's file."""
    status, printed = run("run", *NARROW, "--driver", "python:broken.py:Driver")

    assert (2, True, False) == (status, "there_is_no_such_module" in printed, "in_process.py" in printed), printed


@pytest.mark.usefixtures("folder")
def test_a_run_that_nobody_awaits_has_its_mend() -> None:
    """A coroutine function as `run` is mended by its other name."""
    status, printed = run("smoke", "--driver", "python:mine.py:Awaited")

    assert (1, True) == (status, 'call it run_async, and declare modes=["async"]' in printed), printed


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("way", [[], ["-j", "2"]], ids=["one", "two"])
def test_a_run_of_which_nothing_applies_is_not_green(way: list[str]) -> None:
    """Each check needs what the driver does not declare: the status is 2, and the report gives the reason."""
    words = ["--requirement", ROW, "--cell", "*/stream/sync"]

    status, printed = run("run", "-q", *way, *words, "--driver", "python:mine.py:Plain")

    assert (2, True) == (status, "nothing was judged: no check is applicable, mostly because: " in printed), printed


@pytest.mark.parametrize(
    "around",
    [{"PYTEST_ADDOPTS": "--no-such-option"}, {"PYTEST_PLUGINS": "no_such_plugin"}, {"PYTHONWARNINGS": "error"}],
    ids=lambda around: next(iter(around)),
)
def test_settings_of_the_callers_own_tests_disturb_nothing(around: dict[str, str]) -> None:
    """Variables by which pytest and Python take options for other tests."""
    done = _command("run", "-q", *NARROW, around=around)

    assert (0, "") == (done.returncode, done.stderr)


def test_a_proxy_of_the_environment_is_not_asked(tmp_path: Path) -> None:
    """A loop whose client obeys it reaches the provider all the same, though nothing exempts this host."""
    (tmp_path / "asks.py").write_text(
        f"""import urllib.request
from {REFERENCE} import Driver as Given


class Driver(Given):
    def run(self, case, emit):
        if not urllib.request.proxy_bypass("127.0.0.1"):
            raise RuntimeError("the proxy is asked for 127.0.0.1")
        return super().run(case, emit)
""",
        "utf-8",
    )
    around = {"HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "example.org"}

    done = _command("run", "-q", *NARROW, "--driver", f"python:{tmp_path / 'asks.py'}:Driver", around=around)

    assert 0 == done.returncode, done.stdout


def test_a_reader_who_leaves_costs_no_results(tmp_path: Path) -> None:
    """The report goes to a pipe that nobody reads, as by `head`: the run goes on, and writes its results."""
    results = tmp_path / "results.json"
    reading, writing = os.pipe()
    os.close(reading)

    done = _command("run", "--requirement", ROW, "--cell", "openai-chat/*", "--json", str(results), stdout=writing)

    os.close(writing)
    assert (2, "", {"pass"}) == (
        done.returncode,
        done.stderr,
        {one["verdict"] for one in json.loads(results.read_text("utf-8"))["results"]},
    )


def _command(*words: str, around: dict[str, str] | None = None, stdout: int = subprocess.PIPE) -> Ended:
    """A command, as a person starts it."""
    free = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return subprocess.run(
        [sys.executable, "-m", "looptck.cli", *words],
        stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=120, check=False, env=free | (around or {}),
    )  # fmt: skip
