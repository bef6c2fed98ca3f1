"""Changes between two recordings: in structure, or in all content except ids and times.

Before contents are compared, times and timings are removed, and each id is replaced by its place in the order of first
appearance, so that a result under the wrong call's id is still a difference. Chunk borders are not compared; they
depend on the load of the machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from looptck.cassettes import files
from looptck.cassettes.cassette import Cassette, read
from looptck.cassettes.events import stream_events
from looptck.cassettes.structure import differences, events_of, reply_structure, structure_of
from looptck.catalogue.yaml_files import BadFile

_IDS = frozenset({"id", "call_id", "item_id", "tool_call_id", "tool_use_id", "response_id", "previous_response_id"})
_TIMES = frozenset({"created", "created_at", "completed_at"})
_TIMINGS = "timings"


def changes(left: Path, right: Path, *, content: bool) -> Iterator[str]:
    """The differences between two cassettes, or between those of the same names in two folders, a line each.

    Raises:
        BadFile: one of them cannot be read, or there is none.
    """
    compare = changes_in_content if content else changes_in_structure
    if not left.is_dir() and not right.is_dir():
        yield from (f"{right}: {line}" for line in compare(left, right))
        return
    names = [{str(path.relative_to(folder)) for path in files(folder)} for folder in (left, right)]
    if not (names[0] and names[1]):
        empty = right if names[0] else left
        raise BadFile(empty, "there is no cassette in it" if empty.exists() else "does not exist")
    for name in sorted(names[0] | names[1]):
        if name in names[0] and name in names[1]:
            yield from (f"{name}: {line}" for line in compare(left / name, right / name))
        else:
            yield f"{name}: is in {left if name in names[0] else right} only"


def changes_in_structure(left: Path, right: Path) -> list[str]:
    """The differences in structure of two cassettes, a line each; of requests and replies, pair by pair.

    Raises:
        BadFile: one of them cannot be read.
    """
    one, other = read(left), read(right)
    lines = list(_changes_of_length(one, other))
    for place, (first, second) in enumerate(zip(one.exchanges, other.exchanges, strict=False)):
        sides = {
            "request": (structure_of([first.body]), structure_of([second.body])),
            "response": (reply_structure(first.reply), reply_structure(second.reply)),
        }
        for side, pair in sides.items():
            found = differences(*pair)
            lines += [f"/interactions/{place}/{side}: gone: {line}" for line in sorted(found.left)]
            lines += [f"/interactions/{place}/{side}: new: {line}" for line in sorted(found.right)]
    return lines


def changes_in_content(left: Path, right: Path) -> list[str]:
    """The first difference in the content of each interaction of two cassettes, a line each; none: they are the same.

    Raises:
        BadFile: one of them cannot be read.
    """
    one, other = read(left), read(right)
    lines = list(_changes_of_length(one, other))
    if one.provenance.scenario != other.provenance.scenario:
        lines.append("/provenance/scenario: the recorded case has changed")
    for place, (first, second) in enumerate(zip(_normal(one), _normal(other), strict=False)):
        found = _first_difference(first, second)
        if found:
            lines.append(f"/interactions/{place}{found}")
    return lines


def _changes_of_length(one: Cassette, other: Cassette) -> Iterator[str]:
    if len(one.exchanges) != len(other.exchanges):
        yield f"/interactions: {len(one.exchanges)} became {len(other.exchanges)}"


def _normal(cassette: Cassette) -> Iterator[dict[str, Any]]:
    """The interactions without times, and with ids numbered."""
    ids: dict[str, str] = {}
    for exchange in cassette.exchanges:
        reply = exchange.reply
        if reply.streamed:
            events = [{"name": event.name, "data": event.value} for event in stream_events(reply.body)]
            body: dict[str, Any] = {"events": events}
        else:
            body = {"json": events_of(reply)[0]}
        yield {
            "request": {"body": {"json": _plain(exchange.body, ids)}},
            "response": {
                "status": reply.status,
                "headers": dict(reply.headers),
                "body": {form: _plain(value, ids) for form, value in body.items()},
                "broken": reply.broken,
            },
        }


def _plain(value: Any, ids: dict[str, str], member: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _plain(inner, ids, _TIMINGS if member == _TIMINGS else name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner, ids, member) for inner in value]
    if member in _IDS and isinstance(value, str):
        return ids.setdefault(value, f"id {len(ids) + 1}")
    if member in _TIMES or member == _TIMINGS:
        return type(value).__name__
    return value


def _first_difference(one: Any, other: Any, pointer: str = "") -> str | None:
    """The first place at which two values differ, with the old and the new value."""
    if isinstance(one, dict) and isinstance(other, dict):
        inner = [(f"{pointer}/{name}", one[name], other[name]) for name in one if name in other]
        beyond = None if list(one) == list(other) else f"{_short(list(one))} became {_short(list(other))}"
    elif isinstance(one, list) and isinstance(other, list):
        inner = [(f"{pointer}/{place}", *pair) for place, pair in enumerate(zip(one, other, strict=False))]
        beyond = None if len(one) == len(other) else f"{len(one)} entries became {len(other)}"
    else:
        return None if one == other else f"{pointer}: {_short(one)} became {_short(other)}"
    found = next((difference for place, old, new in inner if (difference := _first_difference(old, new, place))), None)
    return found or (beyond and f"{pointer}: {beyond}")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}…"
