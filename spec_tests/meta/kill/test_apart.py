"""Tasks in processes of their own: what each gives, and what becomes of those that give nothing."""

from __future__ import annotations

import multiprocessing
import os
import threading

import pytest

from looptck.commands.kill.apart import Done, apart


def does(task: str) -> str:
    """What the tasks do."""
    match task:
        case "fails":
            raise ValueError("no good")
        case "leaves":
            os._exit(7)
        case "waits":
            threading.Event().wait()
        case "lingers":
            threading.Thread(target=threading.Event().wait).start()
        case "gives what cannot be sent":
            return threading.Lock()  # type: ignore[return-value]
    return f"{task}, done"


def done(*tasks: str, workers: int = 2, seconds: float = 60.0) -> dict[str, Done[str, str]]:
    """What became of each of these tasks."""
    return {one.task: one for one in apart(does, tasks, workers=workers, seconds=seconds)}


@pytest.mark.parametrize("workers", [1, 2, 9])
def test_each_task_gives_its_own(workers: int) -> None:
    """Every task is done once, however many are done at a time."""
    tasks = [f"task {number}" for number in range(5)]

    found = done(*tasks, workers=workers)

    assert {task: f"{task}, done" for task in tasks} == {task: one.value for task, one in found.items()}


@pytest.mark.parametrize(
    ("task", "trouble"),
    [
        ("fails", "ValueError: no good\nTraceback"),
        ("leaves", "its process ended unexpectedly, with status 7"),
        ("gives what cannot be sent", "TypeError: cannot pickle"),
    ],
)
def test_task_that_gives_nothing_says_why(task: str, trouble: str) -> None:
    """An error, an end and a gain that cannot be sent are told, and the others are done all the same."""
    found = done("before", task, "after", workers=1)

    assert found[task].value is None
    assert found[task].trouble.startswith(trouble)
    assert ["before", "after"] == [name for name, one in found.items() if one.value]


def test_task_without_end_is_ended() -> None:
    """A task that takes longer than it may is ended."""
    found = done("waits", "other", seconds=0.2)

    assert "no result within 0.2 s" == found["waits"].trouble
    assert "other, done" == found["other"].value


def test_threads_left_behind_keep_no_process() -> None:
    """A task is over when it has given what it gives."""
    assert "lingers, done" == done("lingers")["lingers"].value


def test_tasks_are_ended_when_nobody_asks_for_more() -> None:
    """Who stops asking leaves no process behind."""
    going = apart(does, ["waits", "first"], workers=2, seconds=60.0)

    assert "first" == next(going).task
    assert 1 == len(multiprocessing.active_children())
    going.close()
    assert [] == multiprocessing.active_children()
