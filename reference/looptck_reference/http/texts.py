"""The JSON of the requests of one run, in which each request repeats the history of the one before.

What a list of messages or tools begins with is not written again if the same list began with it the last time. That is
told from the entries' content and not from their identity, because a caller may change a message between two requests.
"""

from __future__ import annotations

import json
import marshal
from typing import Any

__all__ = ["Texts"]

# In this version of marshal's format the bytes of a list are a head and the bytes of its entries, one after the other.
# Values have equal bytes only if they have equal JSON: true, 1 and 1.0 differ.
FORMAT, HEAD = 2, 5

_text = json.JSONEncoder(separators=(",", ":")).encode


class Texts:
    """Writes request bodies, in ASCII: half a surrogate pair, which JSON allows, has no UTF-8 form."""

    def __init__(self) -> None:
        self._lists: dict[str, tuple[bytes, int, str]] = {}
        """For each list the bytes, the number and the text of its entries in the latest request."""

    def of(self, body: dict[str, Any]) -> bytes:
        """The JSON of a body."""
        return f"{{{','.join(self._member(*member) for member in body.items())}}}".encode("ascii")

    def _member(self, name: str, value: Any) -> str:
        if type(value) not in (list, tuple):
            return _text({name: value})[1:-1]
        return f"{_text({name: 0})[1:-2]}[{self._entries(name, value)}]"

    def _entries(self, name: str, entries: list[Any] | tuple[Any, ...]) -> str:
        try:
            content = marshal.dumps(entries, FORMAT)[HEAD:]
        except ValueError:  # an object of a class of its own, which JSON may be able to write
            return _text(entries)[1:-1]
        before, count, text = self._lists.get(name, (b"", 0, ""))
        if not content.startswith(before):
            count, text = 0, ""
        text = ",".join([*([text] if count else []), *map(_text, entries[count:])])
        self._lists[name] = content, len(entries), text
        return text
