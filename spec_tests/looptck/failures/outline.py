"""Outlines: the body of a request as lines of JSON that a person can read, and which of them a JSON pointer names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from looptck.values.frozen import dataclass
from looptck.values.plain import cut

WIDTH = 110
"""A value that fits into so many characters is one line."""
LONGEST_TEXT = 240
"""The most characters of a string."""
MOST = 60
"""The most lines; those that are not marked go first."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an outline, and the JSON pointer of the value that it begins or shows whole."""

    text: str
    pointer: str | None
    marked: bool = False


def outline(body: Mapping[str, Any], before: Mapping[str, Any], pointer: str = "") -> Iterator[Line]:
    """The lines of a body, without what it has in common with the body before it, unless the pointer is in there.

    Args:
        body: the body of a request.
        before: the body of the request before it; empty if there was none.
        pointer: the JSON pointer of the place to mark; the nearest line above it is marked if there is no such place.
    """
    lines = [*_top(body, before, pointer)]
    marked = _marked(lines, pointer)
    shown = [Line(line.text, line.pointer, at in marked) for at, line in enumerate(lines)]
    if len(shown) <= MOST:
        yield from shown
        return
    around = min(marked, default=0)
    start = max(0, min(around - MOST // 2, len(shown) - MOST))
    if start:
        yield Line(f"… {start} lines", None)
    yield from shown[start : start + MOST]
    if left := len(shown) - start - MOST:
        yield Line(f"… {left} lines", None)


def _top(body: Mapping[str, Any], before: Mapping[str, Any], pointer: str) -> Iterator[Line]:
    for key, value in body.items():
        place = f"/{_escaped(key)}"
        is_inside = pointer == place or pointer.startswith(f"{place}/")
        if key in before and before[key] == value and not is_inside:
            yield Line(f"{key}: as before", place)
        elif key == "tools" and not is_inside and (names := _names(value)):
            yield Line(f"{key}: {', '.join(names)}", place)
        elif isinstance(value, list) and value and isinstance(before.get(key), list):
            yield from _grown(key, value, before[key], pointer)
        else:
            yield from _value(value, place, f"{key}: ", "")


def _names(tools: Any) -> list[str]:
    """The names of the offered tools; of one that the service runs itself its type."""
    found = []
    for tool in tools if isinstance(tools, list) and all(isinstance(one, dict) for one in tools) else ():
        about = {**tool, **tool["function"]} if isinstance(tool.get("function"), dict) else tool
        found.append(str(about.get("name") or about.get("type") or "?"))
    return found


def _grown(key: str, items: list[Any], before: list[Any], pointer: str) -> Iterator[Line]:
    """A list without the items that it had before, up to the one that the pointer names."""
    place = f"/{_escaped(key)}"
    same = next((at for at, item in enumerate(items) if at >= len(before) or item != before[at]), len(items))
    named = pointer.removeprefix(f"{place}/").split("/")[0] if pointer.startswith(f"{place}/") else ""
    same = min(same, int(named)) if named.isdecimal() else same
    yield Line(f"{key}: [", place)
    if same:
        yield Line(f"  … {same} as before", None)
    for at, item in enumerate(items[same:], same):
        yield from _value(item, f"{place}/{at}", "", "  ")
    yield Line("]", None)


def _value(value: Any, place: str, label: str, indent: str) -> Iterator[Line]:
    whole = indent + label + json.dumps(_shortened(value), ensure_ascii=False)
    if len(whole) <= WIDTH or not isinstance(value, dict | list) or not value:
        yield Line(whole, place)
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield Line(f"{indent}{label}{opening}", place)
    named = {f"{key}: ": (str(key), one) for key, one in value.items()} if isinstance(value, dict) else {}
    for at, one in enumerate(value) if not named else ():
        yield from _value(one, f"{place}/{at}", "", f"{indent}  ")
    for words, (key, one) in named.items():
        yield from _value(one, f"{place}/{_escaped(key)}", words, f"{indent}  ")
    yield Line(f"{indent}{closing}", None)


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return cut(value, LONGEST_TEXT)
    if isinstance(value, dict):
        return {key: _shortened(one) for key, one in value.items()}
    return [_shortened(one) for one in value] if isinstance(value, list) else value


def _marked(lines: list[Line], pointer: str) -> set[int]:
    """The lines of the place; if there is no such place, the last line that leads to it."""
    if not pointer:
        return set()
    inside = {at for at, line in enumerate(lines) if line.pointer is not None and _is_below(line.pointer, pointer)}
    leading = [at for at, line in enumerate(lines) if line.pointer is not None and _is_below(pointer, line.pointer)]
    return inside or {*leading[-1:]}


def _is_below(pointer: str, above: str) -> bool:
    return pointer == above or pointer.startswith(f"{above}/")


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
