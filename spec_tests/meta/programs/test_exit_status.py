"""The exit status of a program that the service refuses: one that was given an answer in the end need not fail."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

import pytest

from looptck.spec.failing_service import FailingService
from looptck.spec.program import test_programs
from looptck.values.program import Exit
from looptck.values.verdicts import NotApplicable


class Program:
    """A program that asks at these times, and ends with a status; the scenario that it is asked in, too."""

    def __init__(self, times: list[float], status: int) -> None:
        self._times, self._status = times, status
        self._service: Callable[[int], object] = lambda _: None

    def always(self, service: FailingService, **_: object) -> None:
        """The service answers by the program's own clock."""
        service.clock = iter(self._times).__next__
        self._service = service

    def run(self) -> Any:
        """All its requests, and its end."""
        for n, _ in enumerate(self._times, 1):
            self._service(n)
        return SimpleNamespace(program=SimpleNamespace(exit=Exit(self._status, "", "")), replied=lambda _: None)


AT_ONCE = [0.0, 0.1, 0.2]
GROWING = [*accumulate([0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0])]


def judged(times: list[float], status: int) -> None:
    """The check on such a program."""
    program: Any = Program(times, status)
    test_programs.test_exit_status_of_a_failure(program, program, 401)


def test_answer_in_the_end_is_no_failure() -> None:
    """A program that asked again with growing waits was answered, and nothing is said of its status."""
    with pytest.raises(NotApplicable, match="until the kit gave it an answer"):
        judged(GROWING, 0)


def test_success_without_an_answer_is_wrong() -> None:
    """A program that was refused each time and ends with 0 is; one that ends with another status is not."""
    judged(AT_ONCE, 1)
    with pytest.raises(AssertionError, match="the exit status is 0"):
        judged(AT_ONCE, 0)
