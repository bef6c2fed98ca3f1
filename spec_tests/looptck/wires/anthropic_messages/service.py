"""The backend of one run of the Messages API: it judges and reads requests, given its earlier replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from looptck.values.growth import Growth
from looptck.values.history import Request
from looptck.values.problem import Problem
from looptck.values.turns import Turn
from looptck.wires.anthropic_messages.judge import fit, judge
from looptck.wires.anthropic_messages.judge.memory import Memory
from looptck.wires.anthropic_messages.judge.threads import Threads
from looptck.wires.anthropic_messages.read import items, read
from looptck.wires.grown import Latest, Reading


class MessagesService:
    """A ``Service`` of this wire. It remembers the thinking that it has sent; ``stateful``: it stores threads too."""

    def __init__(self, *, stateful: bool) -> None:
        self._memory = Memory()
        self._clean = Latest[str]("messages")
        """The betas of a request without a problem."""
        self._reading = Reading("messages", read, items)
        self._threads = Threads(supported=stateful)

    def judge(
        self, body: object, headers: Mapping[str, str] | None = None, growth: Growth | None = None
    ) -> list[Problem]:
        """See ``Service``."""
        if not isinstance(body, dict) or not body.get("thread"):
            return self._judged(body, headers, growth)
        problem = self._threads.problem(body)
        if problem is not None:
            return [problem]
        whole, kept = self._threads.whole(body)
        return [_placed(problem, kept) for problem in self._judged(whole, headers)]

    def read(self, body: object, growth: Growth | None = None) -> Request:
        """See ``Service``."""
        if isinstance(body, dict) and body.get("thread"):
            return read(*self._threads.whole(body))
        return self._reading.of(body, growth)

    def replied(self, body: Any, n: int, turn: Turn, id: str | None = None) -> None:
        """See ``Service``."""
        self._memory.add(turn)
        if body.get("thread"):
            self._threads.replied(body, n, turn, id)

    def side(self, method: str, path: str, query: Mapping[str, str], body: Any) -> dict[str, Any] | None:
        """See ``Service``. Threads have no routes."""

    def lose_state(self, why: str | None = None) -> None:
        """See ``Service``. Only threads are lost: signatures are checked without server-side state."""
        self._threads.lose_state(why)

    def _judged(self, body: object, headers: Mapping[str, str] | None, growth: Growth | None = None) -> list[Problem]:
        betas = (headers or {}).get("anthropic-beta", "")
        clean = growth is not None and self._clean.before(body, growth) == betas and _fit(growth, body)
        found = [] if clean else judge(body, headers)
        self._clean.keep(body, None if found else betas)
        if not isinstance(body, dict):
            return found
        own = [problem for problem in found if not self._memory.excuses(problem, body)]
        return own or self._memory.problems(body["messages"])


def _fit(growth: Growth, body: Any) -> bool:
    """Whether the new messages of a request bring no problem that can be seen without the service's memory."""
    new = growth.new(body)
    return not new or fit(new, growth.before["messages"])


def service(stateful: bool) -> MessagesService:
    """Makes the backend of one run; the argument: whether it stores threads."""
    return MessagesService(stateful=stateful)


def _placed(problem: Problem, kept: int) -> Problem:
    """The problem with a pointer into what was sent; what the thread's own messages lack is missing from those sent."""
    start, _, rest = problem.pointer.removeprefix("/").partition("/")
    place, _, below = rest.partition("/")
    if start != "messages" or not place or not kept:
        return problem
    sent = int(place) - kept
    return replace(problem, pointer="/messages" if sent < 0 else f"/messages/{sent}/{below}".removesuffix("/"))
