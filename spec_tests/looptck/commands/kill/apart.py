"""Runs tasks in separate processes, several in parallel, each with a time limit, so that no task affects another.

Each process is a fork: modules, files and checks that its parent has loaded need not be loaded again.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Iterable
from functools import partial
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import Generic, TypeVar

from looptck.guard.forking import Fork, forked
from looptck.values.frozen import dataclass

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
    fork: Fork
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
                fork = forked(partial(_work, work=work, task=task))
                going[fork.ours] = _Going(task, fork, monotonic() + seconds)
            if not going:
                return
            for ended in wait(list(going), max(0.0, min(one.until for one in going.values()) - monotonic())):
                assert isinstance(ended, Connection)
                yield _end(going.pop(ended))
            for ours in [ours for ours, one in going.items() if one.until <= monotonic()]:
                yield _killed(going.pop(ours), f"no result within {seconds:g} s")
    finally:
        for one in going.values():
            one.fork.end()


def _work(theirs: Connection, work: Callable[[Task], Value], task: Task) -> None:
    try:
        theirs.send((work(task), ""))
    except BaseException as error:  # noqa: BLE001  the parent reports any error
        theirs.send((None, f"{type(error).__name__}: {error}\n{traceback.format_exc()}"))


def _end(one: _Going[Task]) -> Done[Task, Value]:
    try:
        value, trouble = one.fork.hear()
    except EOFError:
        one.fork.process.join()
        return _killed(one, f"its process ended unexpectedly, with status {one.fork.process.exitcode}")
    one.fork.process.join()
    one.fork.end()
    return Done(one.task, value, trouble)


def _killed(one: _Going[Task], why: str) -> Done[Task, Value]:
    one.fork.end()
    return Done(one.task, None, why)
