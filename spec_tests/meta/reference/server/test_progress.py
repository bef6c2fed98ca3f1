"""Progress: events around each execution, and the entries of `agentic_tool_calls`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from looptck_reference.server import DOCUMENT, TODAY, Callback, Made, Produced, SearchIndex, ServerDialect
from looptck_reference.server.entry import CODE_TOOL, SEARCH_TOOL
from meta.reference.server.serving import WEATHER, World, call, names, turn

CALL = call("weather", {"city": "Paris"})
SEARCH = call(SEARCH_TOOL, {"query": "capital of Italy"})
CODE = call(CODE_TOOL, {"code": "print(6 * 7)"})
DRAW = Callback("draw", lambda: Made("drawn", (Produced("a.txt", b"a"), Produced("b.bin", b"\xff"))))
SEARCHED = {"results_count": 2, "sources": ["encyclopedia.test"]}
RAN: dict[str, Any] = {
    "stdout": "42\n",
    "stderr": "",
    "exception": "",
    "images_base64": [],
    "video_frames_base64": [],
}


def progress(stream: list[tuple[str | None, Any]]) -> list[Any]:
    """The data of both phases, without what differs from run to run."""
    told = [data["data"] for name, data in stream if name == "agentic_tool_call_progress"]
    return [
        {name: value for name, value in one.items() if name not in {"working_directory", "execution_time_ms"}}
        for one in told
    ]


def test_events_stand_around_each_execution(world: Callable[..., World]) -> None:
    """In the order in which it happens, round by round."""
    told = world(turn(None, CALL), turn(None, CALL), turn("Done.")).stream()

    rounds = [(data["round"], data["phase"]) for name, data in told if name == "agentic_tool_call_progress"]
    assert [(0, "calling"), (0, "complete"), (1, "calling"), (1, "complete")] == rounds


def test_files_stand_between_the_two(world: Callable[..., World]) -> None:
    """Each has an event of its own."""
    told = world(turn(None, call("draw")), turn("Done."), callbacks=(DRAW,)).stream()

    assert ["calling", "file_produced", "file_produced", "complete", "[DONE]"] == names(told)


@pytest.mark.parametrize(
    ("dialect", "made", "calling", "complete"),
    [
        pytest.param(
            DOCUMENT, CALL, {"arguments": {"city": "Paris"}}, {"arguments": {"city": "Paris"}, "content": "18"}
        ),
        pytest.param(TODAY, CALL, {"arguments": '{"city":"Paris"}'}, {"content": "18"}),
        pytest.param(
            DOCUMENT,
            SEARCH,
            {"query": "capital of Italy"},
            {"query": "capital of Italy", "results_count": 2},
        ),
        pytest.param(TODAY, SEARCH, {"query": "capital of Italy"}, SEARCHED),
        pytest.param(
            DOCUMENT,
            CODE,
            {"code": "print(6 * 7)"},
            {"code": "print(6 * 7)", **RAN, "video_frame_count": 0},
        ),
        pytest.param(TODAY, CODE, {"code": "print(6 * 7)"}, {"stdout": "42\n", "video_frame_count": 0}),
    ],
)
def test_data_is_that_of_the_tools_type(
    world: Callable[..., World],
    dialect: ServerDialect,
    made: dict[str, Any],
    calling: dict[str, Any],
    complete: dict[str, Any],
) -> None:
    """The document has the input repeated behind the execution; today's server does not."""
    here = world(
        turn(None, made),
        turn("Done."),
        dialect=dialect,
        search=SearchIndex(),
        code=True,
        callbacks=(Callback("weather", lambda **_: "18"),),
    )
    interpreter = {"type": "code_interpreter"}

    told = progress(here.stream(tools=[interpreter], web_search_options={}))

    kind = {"weather": "custom", SEARCH_TOOL: "web_search", CODE_TOOL: "code_execution"}[made["function"]["name"]]
    assert [{"tool_type": kind, **calling}, {"tool_type": kind, **complete}] == told


def test_each_executed_round_has_an_entry(world: Callable[..., World]) -> None:
    """Arguments are the model's text; what was found and printed is told in words."""
    here = world(turn(None, SEARCH), turn(None, CODE), turn(None, CALL), turn("Done."), search=SearchIndex(), code=True)

    told = here.chat(enable_code_execution=True).json()["agentic_tool_calls"]

    assert [
        (0, '{"query":"capital of Italy"}', "2 results\nsources: encyclopedia.test"),
        (1, '{"code":"print(6 * 7)"}', "stdout: 42\n"),
        (2, '{"city":"Paris"}', "18 degrees"),
    ] == [(one["round"], one["arguments"], one["result_content"]) for one in told]


@pytest.mark.parametrize(
    ("dialect", "there"), [(DOCUMENT, [True, True]), (TODAY, [True, False])], ids=["document", "today"]
)
def test_an_entry_names_its_files(world: Callable[..., World], dialect: ServerDialect, there: list[bool]) -> None:
    """Of its round alone; today's server leaves an empty list out."""
    here = world(turn(None, call("draw")), turn(None, CALL), turn("Done."), callbacks=(DRAW,), dialect=dialect)

    body = here.chat(tools=[WEATHER]).json()

    entries = body["agentic_tool_calls"]
    assert there == ["file_ids" in one for one in entries]
    assert [one["id"] for one in body["files"]] == entries[0]["file_ids"]
