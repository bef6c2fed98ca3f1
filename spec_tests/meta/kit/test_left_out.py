"""Checks of tools that a loop which takes functions alone was not given say nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from looptck.bench.left_out import of
from looptck.values.turns import Call, calls, says

FUNCTIONS = {"tools": "functions"}
WEATHER = {1: calls(Call.of("weather", {"city": "Paris"})), 2: says("Warm.")}
LATE = {1: says("Warm."), 2: calls(Call.of("weather", {"city": "Paris"}))}


def _run(turns: dict[int, Any], *offered: str, refused: bool = False, requests: int = 1) -> Any:
    """A run of a case with a tool, in which requests offer these."""
    request = SimpleNamespace(tools=[SimpleNamespace(name=name) for name in offered])
    received = SimpleNamespace(request=request, problems=("refused",) if refused else ())
    return SimpleNamespace(received=[received] * requests, offered=("weather",), turns=turns)


@pytest.mark.parametrize(
    ("run", "dialect", "left"),
    [
        (_run(WEATHER), FUNCTIONS, True),
        (_run(WEATHER), {}, False),
        (_run(WEATHER, "weather"), FUNCTIONS, False),
        (_run(WEATHER, refused=True), FUNCTIONS, False),
        (_run(LATE), FUNCTIONS, False),
        (_run(LATE, requests=2), FUNCTIONS, True),
    ],
)
def test_a_tool_that_was_left_out(run: Any, dialect: dict[str, str], left: bool) -> None:
    """It was called in a turn that came, no request offers it, and none was refused."""
    assert left == ("weather" in of([run], dialect))
