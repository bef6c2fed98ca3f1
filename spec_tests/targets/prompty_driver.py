"""What the drivers of Microsoft's Prompty share, whatever its revision calls the entry points of its loop."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

import prompty
from prompty_case import prompt
from prompty_handlers import registered
from prompty_spans import traced

from looptck.driver import error, handlers, value

VARIANT = os.environ.get("LOOPTCK_VARIANT", "")
"""The second usual way that is to be driven (``variants.yaml``); empty for the first."""

Json = dict[str, Any]

Loop = Callable[..., Any]


class PromptyDriver:
    """Runs the kit's cases on one revision of Prompty."""

    name: ClassVar[str]
    profiles: ClassVar[tuple[str, ...]]
    wires: ClassVar[tuple[str, ...]]
    streams: ClassVar[bool] = True
    listens: ClassVar[bool] = True
    """Whether the loop takes a listener, which hears of text while it arrives."""
    nests: ClassVar[bool]
    """Whether it runs tools of the kind prompty."""
    loop: ClassVar[Loop]
    loop_async: ClassVar[Callable[..., Awaitable[Any]]]
    options: ClassVar[Json] = {}
    """What every run passes to the loop by itself."""

    def start(self) -> Json:
        return {
            "protocol": 1,
            "name": f"{self.name}@{VARIANT}" if VARIANT else self.name,
            "version": prompty.VERSION,
            "language": "python",
            "wires": list(self.wires),
            "modes": ["sync", "async"],
            "profiles": list(self.profiles),
            "capabilities": {
                "stream": self.streams,
                "chunks": self.streams and self.listens,
                "limit": True,
                "concurrent": True,
                "bindings": True,
                "kinds": True,
                "prompts": True,
                "nested": self.nests,
                "mixed": True,
                "spans": True,
                "parallel": VARIANT == "parallel",
            },
            "dialect": {"limit_counts": "tool-rounds", "agent_files": "lists"},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        options = self._options(case, emit)
        try:
            with registered(case), traced(case):
                return _answered(type(self).loop(prompt(case), case["inputs"], tools=handlers(case), **options))
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        options = self._options(case, emit)
        try:
            with registered(case), traced(case):
                tools = handlers(case)
                return _answered(await type(self).loop_async(prompt(case), case["inputs"], tools=tools, **options))
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)

    def _options(self, case: Json, emit: Callable[[str], None]) -> Json:
        def hear(event: str, data: Json) -> None:
            if event == "token":
                emit(data["token"])

        options = dict(self.options)
        if self.listens and (case["stream"] or VARIANT == "listening"):
            options["on_event"] = hear
        if "limit" in case["options"]:
            options["max_iterations"] = case["options"]["limit"]
        return options


def _answered(result: object) -> Json:
    """Prompty returns calls that it did not run as a list of ``ToolCall``."""
    if isinstance(result, list):
        return {**value(None), "stop": "calls"}
    return value(result if isinstance(result, str | None) else str(result))


def _failed(exception: Exception) -> Json:
    message = str(exception)
    if message.startswith("Agent loop exceeded"):
        return error(exception, "limit")
    return error(exception, "refusal" if message.startswith("Model refused") else None)
