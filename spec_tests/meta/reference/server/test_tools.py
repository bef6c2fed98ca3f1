"""Callbacks and web search."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from looptck_reference.server import Callback, SearchIndex
from looptck_reference.server.entry import SEARCH_TOOL
from looptck_reference.server.tools import Page
from meta.reference.server.serving import World, call, entries, turn


def ran(world: Callable[..., World], handler: Callable[..., Any], arguments: Any = None, **more: Any) -> str:
    """What the model reads of a callback."""
    here = world(turn(None, call("it", arguments)), turn("Done."), callbacks=(Callback("it", handler),), **more)
    here.chat()
    return str(here.outside.histories[1][-1]["content"])


async def waits(city: str) -> str:
    """A coroutine function."""
    await asyncio.sleep(0)
    return f"waited in {city}"


@pytest.mark.parametrize(
    ("handler", "text"),
    [
        (lambda city: f"18 in {city}", "18 in Paris"),
        (waits, "waited in Paris"),
        (lambda city: {"city": city}, '{"city": "Paris"}'),
        (lambda city: None, "null"),  # noqa: ARG005
    ],
)
def test_a_callback_gets_its_arguments_by_keyword(
    world: Callable[..., World], handler: Callable[..., Any], text: str
) -> None:
    """Text is a result as it is, anything else as JSON."""
    assert text == ran(world, handler, {"city": "Paris"})


def test_a_callback_that_raises_is_told_to_the_model(world: Callable[..., World]) -> None:
    """Type and message."""

    def boom() -> None:
        raise RuntimeError("kaboom")

    assert '{"error":"RuntimeError: kaboom","tool":"it","status":"failed"}' == ran(world, boom)


@pytest.mark.parametrize(("arguments", "words"), [("{", "not a JSON object"), ({"x": 1}, "TypeError")])
def test_arguments_that_do_not_fit_are_told_to_the_model(
    world: Callable[..., World], arguments: Any, words: str
) -> None:
    """The function is not called with anything else."""
    assert words in ran(world, lambda: "never", arguments)


def test_a_callback_that_hangs_ends_at_its_timeout(world: Callable[..., World]) -> None:
    """Where it can be stopped, it is."""
    stopped = []

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(True)

    text = ran(world, hang, limits={"callback_timeout": 0.01})

    assert ("timed out after 0.01 s", [True]) == (json.loads(text)["error"], stopped)


def test_a_huge_result_of_a_callback_is_refused(world: Callable[..., World]) -> None:
    """The model is told how much it may be."""
    text = ran(world, lambda: "x" * 1001, limits={"tool_result": 1000})

    assert "the result is larger than 1000 bytes" == json.loads(text)["error"]


def test_search_finds_pages_of_the_index(world: Callable[..., World]) -> None:
    """The best first; the plain response says how many, and from where."""
    here = world(turn(None, call(SEARCH_TOOL, {"query": "weather Paris"})), turn("Done."), search=SearchIndex())

    response = here.chat()

    found = json.loads(here.outside.histories[1][-1]["content"])["output"]
    assert ["Weather in Paris", "Paris"] == [page["title"] for page in found]
    assert [(0, SEARCH_TOOL, "2 results\nsources: weather.test, encyclopedia.test")] == entries(response)


def test_search_may_find_nothing(world: Callable[..., World]) -> None:
    """That is no failure."""
    here = world(turn(None, call(SEARCH_TOOL, {"query": "xyzzy"})), turn("Done."), search=SearchIndex())

    response = here.chat()

    assert ('{"output":[]}', [(0, SEARCH_TOOL, "0 results")]) == (
        here.outside.histories[1][-1]["content"],
        entries(response),
    )


@pytest.mark.parametrize("arguments", ["{", {}, {"query": 3}])
def test_search_without_a_query_is_told_to_the_model(world: Callable[..., World], arguments: Any) -> None:
    """As a result that is an error."""
    here = world(turn(None, call(SEARCH_TOOL, arguments)), turn("Done."), search=SearchIndex())

    here.chat()

    assert "Invalid search arguments" in here.outside.histories[1][-1]["content"]


def test_an_index_is_read_from_a_file(tmp_path: Path) -> None:
    """An array of pages."""
    page = {"title": "T", "url": "https://x.test/", "description": "D", "content": "word"}
    (tmp_path / "index.json").write_text(json.dumps([page]))

    assert [Page(**page)] == list(SearchIndex.from_file(tmp_path / "index.json").find("a word"))


@pytest.mark.parametrize("text", ["{", "[1]", '[{"title": "T"}]', "3"])
def test_a_file_that_is_no_index_is_refused(tmp_path: Path, text: str) -> None:
    """With its path."""
    (tmp_path / "index.json").write_text(text)

    with pytest.raises(ValueError, match=r"index\.json is not an array of pages"):
        SearchIndex.from_file(tmp_path / "index.json")
