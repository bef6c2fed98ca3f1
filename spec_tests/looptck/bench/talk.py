"""Conversations: runs of one implementation that go on with each other, on one mock service.

The service knows in each run what it has answered in those before, and its URL stays the same. Each run has a script, a
transcript and an outcome of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Unpack

from looptck.bench.bench import Running
from looptck.bench.benches import loop_bench
from looptck.bench.checks import Implementation, RunOverrides
from looptck.bench.run import Run
from looptck.values.outcome import Suspended
from looptck.values.verdicts import NotReached

_numbers = count(1)


@dataclass(slots=True)
class Talk:
    """A conversation, of which no run has begun yet.

    Each run plays the scenario in its present state, so a check sets that before each of them.
    """

    implementation: Implementation
    named: bool = True
    """Whether the runs are told that they are a conversation; otherwise they only have their service in common."""
    last: Running | None = None
    """The latest run."""
    id: str = ""

    def __post_init__(self) -> None:
        self.id = self.id or f"conversation-{next(_numbers)}"

    def begin(self, question: str | None = "Go.", *, mark: str = "", **how: Unpack[RunOverrides]) -> Running:
        """Begin the next run, with this question; ``mark``: words of its requests, if the latest is still under way."""
        if self.named:
            how = {"conversation": self.id, "goes_on": self.last is not None, **how}
        self.last = self.implementation.begin(question, after=self.last, mark=mark, apart=self.last is None, **how)
        return self.last

    def run(self, question: str | None = "Go.", **how: Unpack[RunOverrides]) -> Run:
        """Run the scenario with this question, and wait for the end of the run."""
        return self.implementation.end(self.begin(question, **how))

    def resume(self, run: Run, decisions: Iterable[Mapping[str, Any]], **how: Unpack[RunOverrides]) -> Run:
        """Resume a suspended run with these decisions, and wait for the end of what is left of it.

        ``how`` has to repeat what differed from the default in the suspended run.
        """
        state = suspended(run).state
        how["resume"] = {"state": state, "decisions": [dict(one) for one in decisions]}
        return self.run(None, **how)

    def renew(self) -> None:
        """Let the next run find nothing that the driver has kept: in another process, or object of the driver."""
        loop_bench(self.implementation.bench).renew()


def suspended(run: Run) -> Suspended:
    """How the run was suspended. NotReached if it was not."""
    if not isinstance(run.outcome, Suspended):
        ran = ", ".join(tool for tool, _ in run.tools_ran)
        after = f"{ran} ran, and the loop" if ran else "the loop"
        raise NotReached(f"the run was not suspended before the call that needs approval: {after} {run.outcome}")
    return run.outcome
