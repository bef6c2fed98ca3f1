"""What a request of the revision without a handshake says for itself: metadata, and headers that repeat its body."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from looptck_reference.vocabulary.values import Json

__all__ = ["STATELESS", "Mark", "Metadata", "coded"]

STATELESS = "2026-07-28"
KEY = "io.modelcontextprotocol/"
ABOUT = {"name": "looptck-reference", "version": "1"}
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A name that a header can have."""
MIRRORED = {"string", "integer", "boolean"}
"""The types of parameters that a header can repeat."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A parameter, by its path, that a header of this name repeats."""

    path: tuple[str, ...]
    header: str
    type: str

    def value(self, arguments: Any) -> Any:
        """Its value in the arguments of a call; None if there is none."""
        for step in self.path:
            arguments = arguments.get(step) if isinstance(arguments, dict) else None
        return arguments


class Metadata:
    """What the requests to one server say for themselves: the marks of its tools are known once these are listed."""

    def __init__(self) -> None:
        self.marks: dict[str, Sequence[Mark]] = {}

    def fields(self) -> Json:
        """The members of the metadata in each body."""
        return {KEY + "protocolVersion": STATELESS, KEY + "clientInfo": ABOUT, KEY + "clientCapabilities": {}}

    def headers(self, method: str, params: Json) -> dict[str, str]:
        """The headers of a request."""
        found = {"mcp-protocol-version": STATELESS, "mcp-method": method}
        if method == "tools/call":
            found["mcp-name"] = self.text(params["name"])
            found |= self.mirrored(params["name"], params["arguments"])
        return found

    def mirrored(self, tool: str, arguments: Json) -> dict[str, str]:
        """The headers that repeat marked parameters."""
        values = {mark.header: mark.value(arguments) for mark in self.marks.get(tool, ())}
        return {f"mcp-param-{header}": self.text(one) for header, one in values.items() if one is not None}

    def text(self, value: str | int) -> str:
        """A value as a header has it."""
        return coded(str(value).lower() if isinstance(value, bool) else str(value))

    def accepts(self, listed: Json) -> bool:
        """Whether the marks of a listed tool are legal, which are kept then; it must not be used otherwise."""
        marks = list(self.marked(listed["inputSchema"]))
        names = [mark.header.lower() for mark in marks]
        legal = all(TOKEN.fullmatch(mark.header) and mark.type in MIRRORED for mark in marks)
        self.marks[listed["name"]] = marks
        return legal and len(names) == len(set(names))

    def marked(self, schema: Json, path: tuple[str, ...] = ()) -> Iterator[Mark]:
        """The marks in a schema."""
        for name, inner in schema.get("properties", {}).items():
            here = (*path, name)
            if "x-mcp-header" in inner:
                yield Mark(here, inner["x-mcp-header"], inner.get("type", ""))
            yield from self.marked(inner, here)


def coded(text: str) -> str:
    """A text that a header can have: as it is, or in base64 where it would not arrive as it is."""
    looks_coded = text.startswith("=?base64?") and text.endswith("?=")
    if not looks_coded and re.fullmatch(r"[!-~](?:[ -~]*[!-~])?", text):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="
