"""The data of progress events and the entries of `agentic_tool_calls`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from looptck_reference.server.dialects import ServerDialect
from looptck_reference.server.values import Called, Record
from looptck_reference.vocabulary.values import Json

__all__ = ["calling_data", "complete_data", "entry_of"]

INPUT = {"code_execution": "code", "web_search": "query"}
"""The argument that holds the whole input of a built-in tool."""

RESULTS: dict[str, Json] = {
    "code_execution": {
        "stdout": "",
        "stderr": "",
        "exception": "",
        "images_base64": [],
        "video_frames_base64": [],
        "video_frame_count": 0,
        "execution_time_ms": 0,
    },
    "web_search": {"results_count": 0},
    "custom": {"content": ""},
}
"""The members of `complete` for each type of tool, with their empty values."""
WHERE = ("working_directory",)
WHERE_TODAY = (*WHERE, "sources")
"""Additional members, for tools that have them."""
EMPTY: tuple[object, ...] = ("", [])


def calling_data(called: Called, dialect: ServerDialect) -> Json:
    """The data before the execution: the input; for a custom tool the arguments, parsed or as the model's text."""
    return {"tool_type": called.tool_type, **_input(called, as_text=dialect.complete_data == "today")}


def complete_data(called: Called, content: str, reported: Mapping[str, Any], dialect: ServerDialect) -> Json:
    """The data after the execution: the results, and in the document's dialect the input again."""
    today = dialect.complete_data == "today"
    known = {**reported, "content": content}
    results = {name: known.get(name) or nothing for name, nothing in RESULTS[called.tool_type].items()}
    results |= {name: reported[name] for name in (WHERE_TODAY if today else WHERE) if reported.get(name)}
    if today:
        return {"tool_type": called.tool_type, **{name: one for name, one in results.items() if one not in EMPTY}}
    return {"tool_type": called.tool_type, **_input(called, as_text=False), **results}


def entry_of(record: Record, file_ids: Sequence[str], dialect: ServerDialect) -> Json:
    """One entry of `agentic_tool_calls`; the arguments are the model's own text."""
    result = record.result
    entry: Json = {
        "round": record.round,
        "name": record.called.call.name,
        "arguments": record.called.call.arguments,
        "result_content": result.content if result.summary is None else result.summary,
    }
    if file_ids or dialect.file_ids == "always":
        entry["file_ids"] = list(file_ids)
    return entry


def _input(called: Called, *, as_text: bool) -> Json:
    arguments = called.arguments
    name = INPUT.get(called.tool_type)
    if name is None:
        return {"arguments": called.call.arguments if as_text else arguments}
    return {name: arguments.get(name, "") if isinstance(arguments, dict) else ""}
