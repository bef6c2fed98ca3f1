"""The events of a recorded stream, as the event-stream format of the HTML standard has them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_LINE_END = re.compile("\r\n|\r|\n")


def events(text: str) -> Iterator[Any]:
    """The JSON of each event up to the end marker, which some servers of wires that have none send too.

    What no empty line ends is no event. Raises ValueError where the data of one is no JSON.
    """
    data: list[str] = []
    *lines, _unended = _LINE_END.split(text.removeprefix("\ufeff"))
    for line in lines:
        if line.startswith("data:"):
            data.append(line[5:])
        elif not line and data:
            whole = "\n".join(data)
            if whole.strip() == "[DONE]":
                return
            yield json.loads(whole)
            data = []
