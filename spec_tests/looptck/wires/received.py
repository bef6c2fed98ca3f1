"""The events of a recorded stream, as the event-stream format of the HTML standard (section 9.2.6) has them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_LINE_END = re.compile("\r\n|\r|\n")


def named(text: str) -> Iterator[tuple[str, str]]:
    """The name of each event, ``""`` where it has none, and its data. What no empty line ends is no event."""
    name, data = "", list[str]()
    *lines, _unended = _LINE_END.split(text.removeprefix("\ufeff"))
    for line in lines:
        field, _, value = line.partition(":")
        if not line:
            if data:
                yield name, "\n".join(data)
            name, data = "", []
        elif field == "event":
            name = value.removeprefix(" ")
        elif field == "data":
            data.append(value.removeprefix(" "))


def events(text: str) -> Iterator[Any]:
    """The JSON of each event up to the end marker, which some servers of wires that have none send too.

    Raises ValueError where the data of one is no JSON.
    """
    for _, data in named(text):
        if data.strip() == "[DONE]":
            return
        yield json.loads(data)
