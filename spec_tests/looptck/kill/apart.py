"""Tasks in processes of their own, some at a time, each with a time limit: none can harm another or hang the whole.

Each process is a fork: what its parent has imported, read and collected is there at once.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import Generic, TypeVar

Task = TypeVar("Task")
Gain = TypeVar("Gain")


@dataclass(frozen=True, slots=True)
class Done(Generic[Task, Gain]):
    """What became of a task: its gain, or why it has none."""

    task: Task
    gain: Gain | None
    trouble: str = ""


@dataclass(slots=True)
class _Going(Generic[Task]):
    task: Task
    process: BaseProcess
    until: float


def apart(
    work: Callable[[Task], Gain], tasks: Iterable[Task], *, workers: int, seconds: float
) -> Generator[Done[Task, Gain], None, None]:
    """Do the work for each task in a process of its own, and give what came of it in the order in which they end.

    ``seconds`` is what one task may take. The gain has to be picklable.
    """
    waiting = iter(tasks)
    going: dict[Connection, _Going[Task]] = {}
    try:
        while True:
            while len(going) < workers and (task := next(waiting, None)) is not None:
                ours, one = _begin(work, task, seconds)
                going[ours] = one
            if not going:
                return
            for ended in wait(list(going), max(0.0, min(one.until for one in going.values()) - monotonic())):
                assert isinstance(ended, Connection)
                yield _end(going.pop(ended), ended)
            for ours in [ours for ours, one in going.items() if one.until <= monotonic()]:
                yield _killed(going.pop(ours), ours, f"gave nothing within {seconds:g} s")
    finally:
        for ours, one in going.items():
            _killed(one, ours, "")


def _begin(work: Callable[[Task], Gain], task: Task, seconds: float) -> tuple[Connection, _Going[Task]]:
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe(duplex=False)
    sys.stdout.flush()
    sys.stderr.flush()
    process = fork.Process(target=_child, args=(work, task, theirs), daemon=True)
    with warnings.catch_warnings():
        # Python 3.12 warns where other threads are alive, which may hold a lock: ours are idle or have ended
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        process.start()
    theirs.close()
    return ours, _Going(task, process, monotonic() + seconds)


def _child(work: Callable[[Task], Gain], task: Task, theirs: Connection) -> None:
    gc.freeze()  # what the parent has made is not ours to collect, and to look at it would copy its memory
    try:
        theirs.send((work(task), ""))
    except BaseException as error:  # noqa: BLE001  whatever it is, the parent has to hear of it
        theirs.send((None, f"{type(error).__name__}: {error}\n{traceback.format_exc()}"))
    theirs.close()
    os._exit(0)  # threads that an implementation has left behind keep no process alive


def _end(one: _Going[Task], ours: Connection) -> Done[Task, Gain]:
    try:
        gain, trouble = ours.recv()
    except EOFError:
        one.process.join()
        return _killed(one, ours, f"its process ended by itself, with status {one.process.exitcode}")
    one.process.join()
    ours.close()
    return Done(one.task, gain, trouble)


def _killed(one: _Going[Task], ours: Connection, why: str) -> Done[Task, Gain]:
    one.process.kill()
    one.process.join()
    ours.close()
    return Done(one.task, None, why)
