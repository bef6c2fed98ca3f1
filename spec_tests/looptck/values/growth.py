"""JSON bodies that grow: most requests of a run repeat the one before, with a list in it that goes on.

Such a body is parsed from its new end, and shares everything else with the body before. Whatever is in any doubt is
parsed whole, so that the value is always the one that a whole parse gives. Bodies are compared byte by byte, because
Python takes values for equal that JSON does not: true and 1, 1 and 1.0.
"""

from __future__ import annotations

import json
from dataclasses import field
from typing import Any

from looptck.values.frozen import dataclass
from looptck.values.jsontext import parsed


@dataclass(frozen=True, slots=True)
class Growth:
    """How a body follows from an earlier one: the same members, and further entries in one list.

    A body that repeats the earlier one has the same value, and no member that goes on.
    """

    before: dict[str, Any] = field(repr=False)
    """The earlier body."""
    member: str | None = None
    """The name of the list that goes on; None: none does."""

    @property
    def kept(self) -> int:
        """The number of the list's entries that the earlier body had."""
        return 0 if self.member is None else len(self.before[self.member])

    def new(self, body: Any) -> list[Any]:
        """The further entries in the body that follows."""
        return [] if self.member is None else list(body[self.member][self.kept :])


class Bodies:
    """Parses the bodies of one run in their order."""

    def __init__(self) -> None:
        self._raw = b""
        self._value: Any = None
        self._member = ""
        self._end = 0
        """Where the list ends in the latest body, in bytes: at its bracket or the blanks before it; 0: unknown."""

    def parse(self, raw: bytes) -> tuple[Any, Growth | None]:
        """The JSON value of a body (None if it is not JSON), and how it follows from the latest one, if it does."""
        before = self._value
        if isinstance(before, dict):
            if raw == self._raw:
                return before, Growth(before)
            if len(raw) > len(self._raw) and (new := self._new_entries(raw)):
                self._end += len(raw) - len(self._raw)
                self._raw = raw
                self._value = {**before, self._member: before[self._member] + new}
                return self._value, Growth(before, self._member)
        self._raw, self._value, self._end = raw, parsed(raw), 0
        return self._value, None

    def _new_entries(self, raw: bytes) -> list[Any]:
        """The entries that a body has after those of the latest one; none if it differs otherwise."""
        if not self._end:
            self._end, self._member = _end_of_list(self._raw, raw)
        end, rest = self._end, len(raw) - len(self._raw) + self._end
        same = end and raw.startswith(self._raw[:end]) and raw.endswith(self._raw[end:])
        if not same or raw[end : end + 1] != b",":
            return []
        match parsed(b"[[%b]]" % raw[end + 1 : rest]):  # as deep as in the body, and nothing can close the list early
            case [[*entries]]:
                return entries
            case _:
                return []


def _end_of_list(before: bytes, raw: bytes) -> tuple[int, str]:
    """Where a list among the members of a body ends, and its name, if another body differs first just there.

    What comes before the place has to be JSON once the list and the body are closed, and what comes after it once they
    are opened, without another member of the name. So the place cannot be inside a text or a deeper list.
    """
    place = _differs_at(before, raw)
    if raw[place : place + 1] != b",":
        return 0, ""
    try:
        *_, (member, entries) = json.loads(before[:place] + b"]}", object_pairs_hook=list)
    except (ValueError, TypeError, RecursionError):
        return 0, ""
    rest = parsed(b'{"":[' + before[place:])
    if entries and isinstance(entries, list) and isinstance(rest, dict) and rest.get("") == [] and member not in rest:
        return place, member
    return 0, ""


def _differs_at(one: bytes, other: bytes) -> int:
    """The place of the first byte in which two texts differ, or the end of the shorter one."""
    same, end = 0, min(len(one), len(other))
    while same < end:
        middle = (same + end + 1) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            end = middle - 1
    return same
