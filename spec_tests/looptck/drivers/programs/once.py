"""A process for each case: it is started with the prompt, watched, and ended with all that it has started."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import IO

from looptck.catalogue.yaml_files import reason
from looptck.drivers.faults import DriverFault
from looptck.drivers.idle import Pulse, pulse
from looptck.drivers.programs import household
from looptck.drivers.programs.description import Description, filled
from looptck.drivers.programs.scratch import Case, Scratch, environment, write_files
from looptck.drivers.sockets import has_connection
from looptck.guard.descendants import dying_with_this_process
from looptck.values.outcome import Failed, Nothing, Outcome, Value
from looptck.values.program import Exit

LOOK = 0.02
"""Seconds between two looks at whether it has ended."""
COUNT = 0.5
"""Seconds between two counts of its processes and their memory."""
ENDING = 1.0
"""Seconds in which what it has started may end after it."""
MOST_OUTPUT = 16 * 1024 * 1024
"""The most bytes that it may write to standard output or standard error."""
KEPT = 200_000
"""How many bytes of the end of each are kept."""


class Once:
    """One process of a program. Its outcome and its exit are known when it, and what it has started, has ended."""

    def __init__(
        self, description: Description, scratch: Scratch, case: Case, before_the_end: Callable[[], None]
    ) -> None:
        self.outcome: Future[Outcome] = Future()
        self.exit: Exit | None = None
        self._description = description
        self._scratch = scratch
        self._before_the_end = before_the_end
        self._killed: Outcome | None = None
        places = scratch.places(description, case)
        write_files(description, scratch, places)
        words = [filled(word, places) for word in description.once]
        self._output, self._errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115  closed below
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._errors,
                cwd=scratch.work,
                env=environment(description, scratch, places),
                start_new_session=True,
                preexec_fn=dying_with_this_process(),  # noqa: PLW1509  it makes two calls of the system
            )
        except (OSError, ValueError) as error:
            self._output.close()
            self._errors.close()
            raise DriverFault("cannot-start", f"{words[0]}: {reason(error)}") from error
        self._watching = threading.Thread(target=self._watch, name="looptck program", daemon=True)
        self._watching.start()

    def pulse(self) -> Pulse:
        return pulse(self._process.pid)

    def asks_from(self, port: int, to: int) -> bool | None:
        return has_connection(self._process.pid, port, to)

    def kill(self) -> None:
        """End it."""
        household.end(self._scratch.home)
        self._watching.join(ENDING + 1.0)

    def _watch(self) -> None:
        try:
            self._wait()
            left = self._left()
            household.end(self._scratch.home)
            self._before_the_end()
            status = self._process.returncode
            self.exit = Exit(status, _end_of(self._output), _end_of(self._errors), left)
            self.outcome.set_result(outcome_of(self._description, self.exit, self._killed))
        except Exception as error:
            self.outcome.set_exception(error)
        finally:
            self._output.close()
            self._errors.close()

    def _wait(self) -> None:
        """Wait for its end, which comes by force if it takes more than it may."""
        until = time.monotonic() + self._description.seconds
        counted = 0.0
        while self._process.poll() is None:
            now = time.monotonic()
            if now - counted >= COUNT:
                counted = now
                if why := self._too_much(now >= until):
                    self._killed = why
                    household.end(self._scratch.home)
            time.sleep(LOOK)

    def _too_much(self, is_late: bool) -> Nothing | Failed | None:
        """The outcome of a program that is to be killed. One that only takes long has told its caller nothing."""
        own = household.members(self._scratch.home)
        if is_late:
            return Nothing(self._description.seconds)
        if len(own) > self._description.processes:
            return _killed(f"it had {len(own)} processes, where {self._description.processes} are the most")
        if household.memory(own) > self._description.memory << 20:
            return _killed(f"it took more than {self._description.memory} MiB of memory")
        if max(_size(self._output), _size(self._errors)) > MOST_OUTPUT:
            return _killed(f"it wrote more than {MOST_OUTPUT} bytes")
        return None

    def _left(self) -> list[str]:
        """The processes that are alive a moment after its end."""
        until = time.monotonic() + ENDING
        while (alive := household.members(self._scratch.home)) and time.monotonic() < until:
            time.sleep(LOOK)
        return [household.described(pid) for pid in alive]


def outcome_of(description: Description, exit: Exit, killed: Outcome | None) -> Outcome:
    """The outcome for the caller of a program: an exit status that is not 0 is an error, else what it wrote."""
    if killed is not None:
        return killed
    if exit.status != 0:
        return Failed("other", f"exit status {exit.status}", last_line(exit.stderr or exit.stdout))
    return Value(answer_in(description, exit.stdout))


def last_line(text: str) -> str:
    """The last line of a text in which something is written."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")


def answer_in(description: Description, output: str) -> str:
    """The answer in a standard output."""
    if description.answer is None:
        return output.strip()
    found = [match["text"] for match in description.answer.finditer(output)]
    return found[-1].strip() if found else ""


def _killed(why: str) -> Failed:
    return Failed("other", "Killed", why)


def _size(file: IO[bytes]) -> int:
    return os.fstat(file.fileno()).st_size


def _end_of(file: IO[bytes]) -> str:
    size = file.seek(0, 2)
    file.seek(max(0, size - KEPT))
    return file.read().decode(errors="replace")
