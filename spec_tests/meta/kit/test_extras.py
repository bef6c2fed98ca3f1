"""What needs an extra that is not installed says so in one sentence, with exit status 2, before anything else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import pytest
from click.testing import CliRunner

from looptck.catalogue import extras
from looptck.catalogue.extras import NotInstalled, missing, need
from looptck.cli.group import main
from looptck.commands import reference

Without = Callable[..., None]


@pytest.fixture(name="without")
def _without(monkeypatch: pytest.MonkeyPatch) -> Iterator[Without]:
    """Called with names of packages, lets them not be installed."""

    def leave_out(*packages: str) -> None:
        monkeypatch.setattr(extras, "_is_installed", lambda package: package not in packages)
        missing.cache_clear()

    yield leave_out
    missing.cache_clear()


def run(*words: str) -> tuple[int, str]:
    """Exit status and output of a command, the output on one line."""
    done = CliRunner().invoke(main, words)
    return done.exit_code, " ".join(done.output.split())


REFERENCE = "The reference loop needs httpx: pip install 'looptck[reference]'"


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["run", "-q", "--profile", "server-loop"],
        ["run", "--profile", "agent-loop-010"],
        ["run", "--driver", "python:looptck_mutants.core.faults:Any"],
        ["coverage"],
        ["baseline", "--into", "known.yaml"],
        ["kill", "--own"],
        ["kill", "--profile", "server-loop"],
    ],
    ids=" ".join,
)
def test_the_reference(words: list[str], without: Without) -> None:
    """Whatever plays the reference names its extra."""
    without("httpx")

    assert (2, f"looptck could not run: {REFERENCE}") == run(*words)


def test_the_smoke_test(without: Without) -> None:
    """The smoke test names the extra as the reason why the driver does not start."""
    without("httpx")

    assert (2, f"FAULT start {REFERENCE}") == run("smoke", "--driver", "python:looptck_reference.kit.driver:Driver")


def test_a_server(without: Without) -> None:
    """The kit is the client of a server under test, wherever that is."""
    without("httpx")

    status, printed = run("run", "--driver", "server:http://127.0.0.1:1")

    told = "looptck could not run: A server under test needs httpx: pip install 'looptck[server]'"
    assert (2, told) == (status, printed)


def test_a_loop_of_somebody_else(without: Without) -> None:
    """A Python driver needs no extra."""
    without("httpx", "fastapi", "jinja2")

    status, printed = run("smoke", "--driver", "python:meta.drivers.in_process_drivers:Driver")

    assert 0 == status, printed


def test_recording(without: Without) -> None:
    """Recording names its extra, and with the scripted model that of the model."""
    without("openai")
    first = run("record", "--upstream", "openai", "--model", "m")
    without("gguf")
    second = run("record", "--upstream", "scripted")

    assert (2, "Error: Recording needs openai: pip install 'looptck[record]'") == first
    assert (2, "Error: The scripted model needs gguf: pip install 'looptck[scripted]'") == second


def test_the_page(without: Without, tmp_path: Path) -> None:
    """The page is refused before the mutants are played, and the matrix without a page is not."""
    without("jinja2")
    words = ["kill", "--mutants", "python:meta.kit.no_such_mutants:MUTANTS"]

    refused = run(*words, "--html", str(tmp_path / "page.html"))
    unread = run(*words)

    assert (2, "looptck could not run: The page needs jinja2: pip install 'looptck[reference]'") == refused
    assert unread[1].startswith("looptck could not run: python:meta.kit.no_such_mutants:MUTANTS cannot be read")


def test_the_command_of_the_reference(without: Without, capsys: pytest.CaptureFixture[str]) -> None:
    """`looptck-reference` says it before it imports anything of the reference."""
    without("fastapi", "httpx", "ijson", "jinja2", "uvicorn")

    with pytest.raises(SystemExit) as ended:
        reference.main()

    told = "Error: The reference server needs fastapi, httpx, ijson and 2 more: pip install 'looptck[reference]'\n"
    assert (2, told) == (ended.value.code, capsys.readouterr().err)


def test_what_is_there_is_not_asked_for(without: Without) -> None:
    """Where all packages of an extra are there nothing is raised; another extra is no matter."""
    without("vcrpy")
    need("A server", "server")

    with pytest.raises(NotInstalled):
        need("A recording", "record")


def test_a_checkout_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where looptck is run and not installed nobody knows what it needs, and imports say it."""

    def not_found(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", not_found)
    missing.cache_clear()

    assert () == missing("reference")
    missing.cache_clear()
