"""The names of recordings among the names of cases: SCENARIO@DIALECT."""

from __future__ import annotations

_BY = "@"


def recording(scenario: str, dialect: str) -> str:
    """The name of the case that plays a scenario as a service of this dialect was recorded."""
    return f"{scenario}{_BY}{dialect}"


def played_scenario(case: str) -> str | None:
    """The scenario that a case plays from a recording; None if it is no recording."""
    scenario, by, _ = case.partition(_BY)
    return scenario if by else None
