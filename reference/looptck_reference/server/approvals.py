"""Approvals: runs that wait for a decision of their client."""

from __future__ import annotations

import asyncio

from looptck_reference.server.clock import Clock, done_within
from looptck_reference.server.steps import Decision

__all__ = ["Approvals"]


class Approvals:
    """The open questions, by owner and id."""

    def __init__(self, timeout: float, clock: Clock) -> None:
        self._timeout = timeout
        self._clock = clock
        self._open: dict[tuple[str, str], asyncio.Future[Decision]] = {}
        self._asked_by: dict[str, list[tuple[str, str]]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def ask(self, owner: str, approval_id: str, run_id: str) -> None:
        """Open a question of a run, before the client is informed."""
        self._open[owner, approval_id] = asyncio.get_running_loop().create_future()
        self._asked_by.setdefault(run_id, []).append((owner, approval_id))

    def forget(self, run_id: str) -> None:
        """Close all questions of a run."""
        for question in self._asked_by.pop(run_id, ()):
            self._open.pop(question, None)

    async def decision(self, owner: str, approval_id: str) -> Decision:
        """The client's decision; a refusal if the time is over."""
        question = self._open[owner, approval_id]
        try:
            if await done_within(self._clock, self._timeout, question):
                return question.result()
            return Decision(approved=False, message="Approval timed out.")
        finally:
            self._open.pop((owner, approval_id), None)

    def decide(self, owner: str, approval_id: str, decision: Decision) -> bool:
        """Answer a question; False if no such question is open."""
        waiting = self._open.get((owner, approval_id))
        if waiting is None or waiting.done():
            return False
        waiting.set_result(decision)
        return True
