"""A reader of event streams, for the tests alone: it shares no code with anything."""

from __future__ import annotations

import re


def data_of(stream: bytes) -> list[str]:
    """The data of each event that was dispatched, by the rules of the WHATWG HTML standard, section 9.2."""
    text = stream.decode().removeprefix("\ufeff")
    events, data = [], list[str]()
    for line in re.split("\r\n|\n|\r", text)[:-1]:
        if not line:
            if data:
                events.append("\n".join(data))
            data = []
        elif line.partition(":")[0] == "data":
            data.append(line.partition(":")[2].removeprefix(" "))
    return events
