"""No process and no folder of a run outlives it, though it is killed."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from looptck.guard import folder as folders
from looptck.guard.descendants import kill_descendants
from looptck.guard.folder import PREFIX, LockedFolder
from meta.guard.test_guard import COMMON, command, environ, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists what a process has started")

DRIVER = """
import os, threading
open(os.environ["PIPE"], "w").write(str(os.getpid()))
threading.Event().wait()
"""
"""A driver process that says who it is and hears nothing, not even the end of its input."""


@pytest.mark.parametrize("killed", ["guard", "player", "both"])
def test_a_driver_dies_with_the_kit(killed: str, tmp_path: Path) -> None:
    """One that listens to nothing is ended with the process that started it, and with the guard."""
    (tmp_path / "driver.py").write_text(DRIVER, encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    words = [sys.executable, "-m", "looptck.cli", "run", "--driver", f"cmd:{sys.executable} {tmp_path / 'driver.py'}"]
    with subprocess.Popen([*words, *COMMON], env=environ(tmp_path), stdout=subprocess.DEVNULL) as guard:
        driver = int((tmp_path / "pipe").read_text(encoding="ascii"))
        ended = os.pidfd_open(driver)
        player = int(Path(f"/proc/{guard.pid}/task/{guard.pid}/children").read_text().split()[0])
        if killed == "both":
            os.kill(guard.pid, signal.SIGSTOP)  # so that it cannot end what the player leaves
            os.kill(player, signal.SIGKILL)
            _wait_until_readable(ended)
            os.kill(guard.pid, signal.SIGKILL)
        else:
            os.kill(guard.pid if killed == "guard" else player, signal.SIGKILL)
            _wait_until_readable(ended)
        status = guard.wait(60)

    assert (2 if killed == "player" else -9) == status


def test_what_a_driver_leaves_ends_with_the_run(tmp_path: Path) -> None:
    """It holds nobody's output open: a CI job that reads to the end would wait for it."""
    ran = run("LeavesAProcess", tmp_path)

    assert 0 == ran.status
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pipe").read_text(encoding="ascii")), 0)


def test_a_loop_that_asks_the_terminal_is_not_stopped(tmp_path: Path) -> None:
    """The run goes on, in a terminal of whose foreground it is no part; the loop sees an error."""
    words = command("AsksTheTerminal", tmp_path)
    run_in_terminal = f"import pty, sys; sys.exit(pty.spawn({words!r}))"
    done = subprocess.run(
        [sys.executable, "-c", run_in_terminal],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
        env=environ(tmp_path),
    )

    assert "OSError" == (tmp_path / "pipe").read_text(encoding="ascii"), done.stdout


def _wait_until_readable(descriptor: int) -> None:
    readable, _, _ = select.select([descriptor], [], [], 60)
    os.close(descriptor)
    assert readable, "the driver lives on"


def test_a_folder_that_was_left_behind_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next command removes a folder without a lock, and leaves one whose command runs, and what is not ours."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    abandoned, strange = tmp_path / f"{PREFIX}abandoned", tmp_path / f"{PREFIX}strange"
    for folder in (abandoned, strange):
        folder.mkdir()
    (abandoned / "lock").touch()

    first, second = LockedFolder(), LockedFolder()
    there = {*tmp_path.iterdir()}
    first.remove()
    second.remove()

    assert {strange, first.folder.path, second.folder.path} == there
    assert {strange} == {*tmp_path.iterdir()}


def test_grandchildren_are_killed() -> None:
    """Whatever was started by what was started."""
    nested = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
    with subprocess.Popen(
        [sys.executable, "-c", nested], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert "1\n" == child.stdout.readline()

        kill_descendants(child.pid)

        assert "" == child.stdout.read()
        assert 0 == child.wait(60)


@pytest.mark.parametrize("is_done", [True, False], ids=["gone", "being removed"])
def test_folder_that_another_command_removes_is_not_used(
    is_done: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the moments when a folder has a file to be locked and when it is locked, another command may sweep."""
    lock = folders._lock
    swept: list[Path] = []

    def swept_first(descriptor: int) -> bool:
        if swept:
            return lock(descriptor)
        swept.append(Path(f"/proc/self/fd/{descriptor}").readlink().parent)
        shutil.rmtree(swept[0])
        return is_done and lock(descriptor)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(folders, "_lock", swept_first)
    locked = LockedFolder()

    assert locked.folder.files.is_dir()
    assert swept != [locked.folder.path]
    locked.remove()
