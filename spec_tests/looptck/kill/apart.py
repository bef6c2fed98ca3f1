"""Runs tasks in separate processes, several in parallel, each with a time limit, so that no task affects another.

Each process is a fork: modules, files and checks that its parent has loaded need not be loaded again.
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
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Done(Generic[Task, Value]):
    """A finished task: its result, or why it has none."""

    task: Task
    value: Value | None
    trouble: str = ""


@dataclass(slots=True)
class _Going(Generic[Task]):
    task: Task
    process: BaseProcess
    until: float


def apart(
    work: Callable[[Task], Value], tasks: Iterable[Task], *, workers: int, seconds: float
) -> Generator[Done[Task, Value], None, None]:
    """Do the work for each task in a separate process, and yield the results in the order in which the tasks end.

    ``seconds`` is the time limit of one task. The result must be picklable.
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
                yield _killed(going.pop(ours), ours, f"no result within {seconds:g} s")
    finally:
        for ours, one in going.items():
            _killed(one, ours, "")


def _begin(work: Callable[[Task], Value], task: Task, seconds: float) -> tuple[Connection, _Going[Task]]:
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe(duplex=False)
    sys.stdout.flush()
    sys.stderr.flush()
    process = fork.Process(target=_child, args=(work, task, theirs), daemon=True)
    with warnings.catch_warnings():
        # Python 3.12 warns about other threads, which may hold a lock: those of looptck are idle or have ended
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        process.start()
    theirs.close()
    return ours, _Going(task, process, monotonic() + seconds)


def _child(work: Callable[[Task], Value], task: Task, theirs: Connection) -> None:
    gc.freeze()  # the garbage collector would touch, and so copy, the parent's memory
    try:
        theirs.send((work(task), ""))
    except BaseException as error:  # noqa: BLE001  the parent reports any error
        theirs.send((None, f"{type(error).__name__}: {error}\n{traceback.format_exc()}"))
    theirs.close()
    os._exit(0)  # an implementation may have left threads that would keep the process alive


def _end(one: _Going[Task], ours: Connection) -> Done[Task, Value]:
    try:
        value, trouble = ours.recv()
    except EOFError:
        one.process.join()
        return _killed(one, ours, f"its process ended unexpectedly, with status {one.process.exitcode}")
    one.process.join()
    ours.close()
    return Done(one.task, value, trouble)


def _killed(one: _Going[Task], ours: Connection, why: str) -> Done[Task, Value]:
    one.process.kill()
    one.process.join()
    ours.close()
    return Done(one.task, None, why)
