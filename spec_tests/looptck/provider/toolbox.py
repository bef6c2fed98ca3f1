"""The toolbox: the behaviour of the tools that a loop runs. It decides what each run returns or raises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from looptck.provider.gate import Gate
from looptck.values.frozen import dataclass
from looptck.values.images import Image


@dataclass(frozen=True, slots=True)
class Returns:
    """The tool returns this JSON value."""

    value: Any
    hold: Gate | None = None

    def answer(self) -> dict[str, Any]:
        return {"value": self.value}


@dataclass(frozen=True, slots=True)
class ReturnsParts:
    """The tool returns texts and images in this order, for a loop that declares `parts`."""

    parts: tuple[str | Image, ...]
    hold: Gate | None = None

    def answer(self) -> dict[str, Any]:
        return {"parts": [_part(one) for one in self.parts]}


@dataclass(frozen=True, slots=True)
class Raises:
    """The tool raises an error of this type with this message."""

    message: str
    type: str = "RuntimeError"
    hold: Gate | None = None

    def answer(self) -> dict[str, Any]:
        return {"error": {"type": self.type, "message": self.message}}


@dataclass(frozen=True, slots=True)
class Answers:
    """The dispatch endpoint of a server answers with these bytes; ``broken``: it announces one more than it sends."""

    status: int = 200
    body: bytes = b""
    type: str = "application/json"
    broken: bool = False
    hold: Gate | None = None

    def answer(self) -> dict[str, Any]:
        return {"answered": self.status, "bytes": len(self.body)}


@dataclass(frozen=True, slots=True)
class HangsUp:
    """The dispatch endpoint of a server closes the connection without a reply."""

    hold: Gate | None = None

    def answer(self) -> dict[str, Any]:
        return {"hung up": True}


Behaviour = Returns | ReturnsParts | Raises | Answers | HangsUp


@dataclass(slots=True)
class Toolbox:
    """Behaviours by tool name, one per run of the tool; the last one is repeated."""

    behaviours: dict[str, Sequence[Behaviour]] = field(default_factory=dict)
    _runs: dict[str, int] = field(default_factory=dict)

    def next(self, tool: str) -> Behaviour:
        """The behaviour of the next run of a tool. By default it returns a text with the number of the run."""
        run = self._runs[tool] = self._runs.get(tool, 0) + 1
        behaviours = self.behaviours.get(tool)
        if not behaviours:
            return Returns(f"result {run} of {tool}")
        return behaviours[min(run, len(behaviours)) - 1]


def _part(part: str | Image) -> dict[str, str]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image", "media_type": part.media_type, "data": part.base64}
