"""A program over the Agent Client Protocol that ends where it should answer: it is told at once, with its status."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest
from acp.client.connection import ClientSideConnection

from looptck.drivers.faults import DriverFault
from looptck.values.outcome import Failed, Value
from meta.programs.test_once import PLAIN, Playing

ANSWERS = """
import json, subprocess, sys, time

def answers(result):
    id = json.loads(sys.stdin.readline())["id"]
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)

def ends(status):
    sys.stderr.write("it went wrong\\n")
    sys.exit(status)

there, session = {"protocolVersion": 1}, {"sessionId": "s"}
"""
LEAVES = "subprocess.Popen(['sleep', '20']); "
"""What is left holds the output open."""
With = Callable[[str], Playing]


def _playing(lines: str) -> Playing:
    return Playing(replace(PLAIN, once=(), acp=(sys.executable, "-c", ANSWERS + lines)))


@pytest.fixture(name="playing_with")
def _playing_with() -> Iterator[With]:
    """Plays a program of these lines."""
    with ExitStack() as stack:

        def play(lines: str) -> Playing:
            playing = _playing(lines)
            stack.callback(playing.programs.stop)
            return playing

        yield play


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("ends(3)", "initialize: exit status 3"),
        (f"{LEAVES}ends(3)", "initialize: exit status 3"),
        ("answers(there); ends(4)", "session/new: exit status 4"),
    ],
)
def test_end_at_the_start_is_told(playing_with: With, lines: str, told: str) -> None:
    """A program that ends before it has a session cannot be started, and its last words are kept."""
    with pytest.raises(DriverFault) as fault:
        playing_with(lines)("Hello")

    assert "cannot-start" == fault.value.kind
    assert told in str(fault.value)
    assert "it went wrong\n" == fault.value.stderr


@pytest.mark.parametrize("left", ["", LEAVES])
def test_end_in_a_run_is_a_failure_of_the_program(playing_with: With, left: str) -> None:
    """A program that ends in place of an answer has failed, as one for each case has; the next case starts it."""
    playing = playing_with(f"answers(there); answers(session); sys.stdin.readline(); {left}ends(5)")

    assert Failed("other", "exit status 5", "it went wrong") == playing("Hello")
    assert Failed("other", "exit status 5", "it went wrong") == playing("Hello")


def test_what_was_not_read_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that ends with a message on its way breaks the pipe; everything is closed all the same."""

    async def lost(_: ClientSideConnection) -> None:
        raise ConnectionResetError("Connection lost")

    playing = _playing("answers(there); answers(session); answers({'stopReason': 'end_turn'})")
    playing("Hello")
    monkeypatch.setattr(ClientSideConnection, "close", lost)

    assert [] == playing.programs.stop()
    assert "looptck acp" not in {thread.name for thread in threading.enumerate()}


def test_answer_before_the_end_counts(playing_with: With) -> None:
    """An answer that came before the end of the process is the outcome."""
    playing = playing_with("answers(there); answers(session); answers({'stopReason': 'end_turn'}); ends(6)")

    assert Value("", None) == playing("Hello")
