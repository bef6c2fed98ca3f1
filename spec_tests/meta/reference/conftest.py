"""What the tests of the runners share."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from looptck_reference import Agent, Tool
from looptck_reference.kit.posting import AsyncPosts, Posts
from looptck_reference.kit.toolbox import LOOPBACK
from meta.reference.reference_provider import Run, run_async, run_sync
from meta.reference.reference_replies import QUESTION, Json
from meta.reference.reference_wires import SIDES, Side

CLIENT = httpx.Client(**LOOPBACK)
ASYNC_CLIENT = httpx.AsyncClient(**LOOPBACK)


@pytest.fixture(autouse=True)
def _the_kit_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Posts to the kit go over httpx, as the requests to the model do, so that a test can answer both."""

    def post(_: Posts, url: str, message: Json) -> Any:
        return CLIENT.post(url, json=message).raise_for_status().json()

    async def post_async(_: AsyncPosts, url: str, message: Json) -> Any:
        return (await ASYNC_CLIENT.post(url, json=message)).raise_for_status().json()

    monkeypatch.setattr(Posts, "post", post)
    monkeypatch.setattr(AsyncPosts, "post", post_async)


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
