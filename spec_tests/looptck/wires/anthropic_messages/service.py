"""The far end of one run of the Messages API: it judges and reads requests in the light of what it has sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from looptck.history import Request
from looptck.turns import Turn
from looptck.wires.anthropic_messages.judge import judge
from looptck.wires.anthropic_messages.judge_memory import Memory
from looptck.wires.anthropic_messages.judge_threads import Threads
from looptck.wires.anthropic_messages.read import read
from looptck.wires.problem import Problem


class MessagesService:
    """A ``Service`` of this wire. It always knows the thoughts that it has sent; ``stateful``: it holds threads too."""

    def __init__(self, *, stateful: bool) -> None:
        self._memory = Memory()
        self._threads = Threads(supported=stateful)

    def judge(self, body: object, headers: Mapping[str, str] | None = None) -> list[Problem]:
        """See ``Service``."""
        if not isinstance(body, dict) or not body.get("thread"):
            return self._judged(body, headers)
        problem = self._threads.problem(body)
        if problem is not None:
            return [problem]
        whole, kept = self._threads.whole(body)
        return [_placed(problem, kept) for problem in self._judged(whole, headers)]

    def read(self, body: object) -> Request:
        """See ``Service``."""
        if not isinstance(body, dict) or not body.get("thread"):
            return read(body)
        return read(*self._threads.whole(body))

    def replied(self, body: Any, n: int, turn: Turn, id: str | None = None) -> None:
        """See ``Service``."""
        self._memory.add(turn)
        if body.get("thread"):
            self._threads.replied(body, n, turn, id)

    def forget(self, why: str | None = None) -> None:
        """See ``Service``. What is forgotten are the threads: signatures do not depend on memory."""
        self._threads.forget(why)

    def _judged(self, body: object, headers: Mapping[str, str] | None) -> list[Problem]:
        found = judge(body, headers)
        if not isinstance(body, dict):
            return found
        own = [problem for problem in found if not self._memory.excuses(problem, body)]
        return own or self._memory.problems(body["messages"])


def service(stateful: bool) -> MessagesService:
    """The far end of one run."""
    return MessagesService(stateful=stateful)


def _placed(problem: Problem, kept: int) -> Problem:
    """The problem with a pointer into what was sent; what the thread's own messages lack is missing from those sent."""
    start, _, rest = problem.pointer.removeprefix("/").partition("/")
    place, _, below = rest.partition("/")
    if start != "messages" or not place or not kept:
        return problem
    sent = int(place) - kept
    return replace(problem, pointer="/messages" if sent < 0 else f"/messages/{sent}/{below}".removesuffix("/"))
