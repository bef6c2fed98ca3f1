"""A process for each case: its environment, its end, and what it leaves behind."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from looptck.drivers.faults import DriverFault
from looptck.drivers.programs import household
from looptck.drivers.programs.description import Description, Tool
from looptck.drivers.programs.programs import Programs
from looptck.drivers.programs.scratch import Scratch
from looptck.guard.network import is_cut_off
from looptck.values.outcome import Failed, Nothing, Outcome, Value
from looptck.values.program import Exit

ODD = Path(__file__).with_name("odd.py")
PLAIN = Description(
    name="odd",
    version="1",
    wires=("openai-chat",),
    mark=Tool("sh", {"command": "echo '{text}' >> {mark}"}),
    once=(sys.executable, str(ODD), "{prompt}"),
    env={"OWN": "{base_url} {key}"},
    files={".odd/config.json": '{"url": "{url}"}'},
)


class Playing:
    """A program, and the last case that it played."""

    def __init__(self, description: Description) -> None:
        self.programs = Programs(description)
        self.programs.start()
        self.scratch: Scratch
        self.exit: Exit | None = None

    def __call__(self, prompt: str) -> Outcome:
        self.scratch = self.programs.scratch()
        case = {
            "wire": "openai-chat",
            "base_url": "http://127.0.0.1:9/v1",
            "api_key": "a-key",
            "model": "m",
            "prompt": prompt,
            "scratch": self.scratch,
            "before_the_end": lambda: None,
        }
        outcome = self.programs.run("r1", case, lambda _: None).result(60)
        self.exit = self.programs.exit("r1")
        return outcome


With = Callable[..., Playing]


@pytest.fixture(name="playing_with")
def _playing_with() -> Iterator[With]:
    """Plays the program with changes of its description."""
    with ExitStack() as stack:

        def play(**changes: Any) -> Playing:
            playing = Playing(replace(PLAIN, **changes))
            stack.callback(playing.programs.stop)
            return playing

        yield play


@pytest.fixture(name="playing")
def _playing(playing_with: With) -> Playing:
    return playing_with()


def test_output_is_the_answer(playing: Playing) -> None:
    """A program that ends with the status 0 has returned what it printed."""
    assert Value("> Hello\nANSWER Hello.") == playing("Hello")
    assert playing.exit is not None
    assert (0, ()) == (playing.exit.status, tuple(playing.exit.left))


def test_the_answer_may_be_a_part_of_the_output(playing_with: With) -> None:
    """A regular expression finds the answer."""
    playing = playing_with(answer=re.compile(r"^ANSWER (?P<text>.*)$", re.MULTILINE))

    assert Value("Hello.") == playing("Hello")


def test_a_status_is_an_error(playing: Playing) -> None:
    """A program that ends with another status has failed, with its last line."""
    assert Failed("other", "exit status 7", "it went wrong") == playing("fail")


def test_only_the_path_is_inherited(playing: Playing, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program sees PATH, a scratch HOME and what its description says; no proxy leads out."""
    monkeypatch.setenv("SECRET_OF_THE_CALLER", "x")

    outcome = playing("environment")

    assert isinstance(outcome, Value)
    found = json.loads(outcome.text or "")
    assert "SECRET_OF_THE_CALLER" not in found
    assert (str(playing.scratch.home), "http://127.0.0.1:9/v1 a-key") == (found["HOME"], found["OWN"])
    assert is_cut_off() or "http://127.0.0.1:9" == found["https_proxy"]
    assert '{"url": "http://127.0.0.1:9"}' == (playing.scratch.home / ".odd/config.json").read_text(encoding="utf-8")


def test_a_daemon_is_named_and_killed(playing: Playing) -> None:
    """A process in a session of its own is found by its HOME."""
    playing("daemon")

    assert playing.exit is not None
    (left,) = playing.exit.left
    assert left.endswith("the-daemon")
    assert [] == household.members(playing.scratch.home)


@pytest.mark.parametrize(
    ("prompt", "limit", "told"),
    [
        ("many", {"processes": 3}, "it had 7 processes, where 3 are the most"),
        ("fat", {"memory": 64}, "it took more than 64 MiB of memory"),
    ],
)
def test_a_program_is_bounded(prompt: str, limit: dict[str, float], told: str, playing_with: With) -> None:
    """A program that takes too many processes or too much memory is killed, with all that it has started."""
    playing = playing_with(**limit)

    outcome = playing(prompt)

    assert isinstance(outcome, Failed)
    assert ("Killed", told) == (outcome.type, re.sub(r"had \d+", "had 7", outcome.message))
    assert [] == household.members(playing.scratch.home)


def test_a_program_that_takes_too_long_has_no_outcome(playing_with: With) -> None:
    """Its end by force is neither an end of its own, as of a loop with a limit, nor an error that it reports."""
    playing = playing_with(seconds=0.5)

    assert Nothing(0.5) == playing("hang")
    assert [] == household.members(playing.scratch.home)


def test_a_command_that_is_not_there(playing_with: With) -> None:
    """It is the description's fault."""
    with pytest.raises(DriverFault, match="no-such-agent"):
        playing_with(once=("no-such-agent",))("Hello")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has network namespaces")
def test_no_network_but_loopback() -> None:
    """A process that has left the network reaches itself and nobody else, or is told why it could not leave."""
    code = (
        "from looptck.guard.network import cut_off, is_cut_off\n"
        "import socket\n"
        "why = cut_off()\n"
        "own = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(own.getsockname()).close()\n"
        "print(why or is_cut_off())\n"
        "print(socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect_ex(('192.0.2.1', 9)))\n"
    )
    around = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=around, capture_output=True, text=True, check=True)

    left, reached = done.stdout.split("\n")[:2]
    assert left != "True" or reached != "0"
    assert left == "True" or "refuses" in left or "threads" in left or "loopback" in left
