"""What the tests of the runners share."""

from __future__ import annotations

import pytest

from looptck_reference import Agent, Tool
from meta.reference.reference_provider import Run, run_async, run_sync
from meta.reference.reference_replies import QUESTION
from meta.reference.reference_wires import SIDES, Side


@pytest.fixture(params=[run_sync, run_async], ids=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Run:
    """Each runner in turn."""
    chosen: Run = request.param
    return chosen


@pytest.fixture(params=SIDES, ids=lambda side: side.name)
def side(request: pytest.FixtureRequest) -> Side:
    """Each wire in turn."""
    chosen: Side = request.param
    return chosen


@pytest.fixture
def ran() -> list[object]:
    """What the tool was called with."""
    return []


@pytest.fixture
def agent(ran: list[object]) -> Agent:
    """An agent with one tool, which notes its arguments."""

    def weather(**arguments: object) -> str:
        ran.append(arguments)
        return "sunny"

    return Agent("m", [QUESTION], [Tool("weather", handler=weather)])
