"""Where the time of a run of the suite went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self


@dataclass(slots=True)
class Spent:
    """Seconds, by who spent them."""

    runs: float = 0.0
    """All runs, from their begin to their outcome; what follows but for `idle` is a part of it."""
    provider: float = 0.0
    """The provider's answers, with the judgement of requests."""
    judge: float = 0.0
    """The judgement of requests, and reading them."""
    held: float = 0.0
    """Replies and tools that waited at gates: for what the loop does next, or for what it must not do."""
    idle: float = 0.0
    """After the outcome of runs, until the implementation was idle."""
    checks: dict[str, float] = field(default_factory=dict)
    """Each check and question as a whole, by its id."""

    @property
    def whole(self) -> float:
        """All of it."""
        return sum(self.checks.values())

    def shares(self) -> dict[str, float]:
        """The seconds of each part of the whole, in words."""
        return {
            "driver and loop": max(self.runs - self.provider - self.held, 0.0),
            "held at gates": self.held,
            "until the loop is idle": self.idle,
            "provider": max(self.provider - self.judge, 0.0),
            "judge": self.judge,
            "checks and reports": max(self.whole - self.runs - self.idle, 0.0),
        }

    def slowest(self, most: int) -> list[tuple[str, float]]:
        """The checks that took longest, with their seconds."""
        return sorted(self.checks.items(), key=lambda one: (-one[1], one[0]))[:most]

    def timed(self, id: str, seconds: float) -> None:
        """Add to the time of a check."""
        self.checks[id] = self.checks.get(id, 0.0) + seconds

    def add(self, other: Self) -> None:
        """Add what another process has spent."""
        for name in ("runs", "provider", "judge", "held", "idle"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for id, seconds in other.checks.items():
            self.timed(id, seconds)

    def serializable(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Self:
        """From such an object."""
        return cls(**found)
