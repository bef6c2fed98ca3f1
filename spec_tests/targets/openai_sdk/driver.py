"""The driver of a hand-written loop: one client for all cases, pointed at each case's provider."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import loop
import responses
from openai import AsyncOpenAI, OpenAI

from looptck.driver import error, handlers, value

VARIANT = os.environ.get("LOOPTCK_VARIANT", "")
"""The second usual way that is to be driven (``variants.yaml``); empty for the first."""

Json = dict[str, Any]

NOWHERE = "http://127.0.0.1:9/v1"
LOOPS = {"openai-chat": loop, "openai-responses": responses}


class Driver:
    """Runs the kit's cases on the loop."""

    def __init__(self) -> None:
        self._client = OpenAI(api_key="-", base_url=NOWHERE)
        self._async_client = AsyncOpenAI(api_key="-", base_url=NOWHERE)

    def start(self) -> Json:
        """What the loop is and can do."""
        return {
            "protocol": 1,
            "name": f"hand-written loop on openai@{VARIANT}" if VARIANT else "hand-written loop on openai",
            "version": version("openai"),
            "language": "python",
            "wires": list(LOOPS),
            "modes": ["sync", "async"],
            "profiles": [],
            "capabilities": {"stream": True, "chunks": True, "limit": True, "concurrent": True},
            "dialect": {"limit_counts": "model-calls"},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in sync mode."""
        client = self._client.with_options(base_url=case["base_url"], api_key=case["api_key"])
        try:
            return value(LOOPS[case["wire"]].run(client, handlers(case), **_request(case, emit)))
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in async mode."""
        client = self._async_client.with_options(base_url=case["base_url"], api_key=case["api_key"])
        try:
            return value(await LOOPS[case["wire"]].run_async(client, handlers(case), **_request(case, emit)))
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)


def _request(case: Json, emit: Callable[[str], None]) -> dict[str, Any]:
    functions = [{key: tool[key] for key in ("name", "description", "parameters")} for tool in case["tools"]]
    if case["wire"] == "openai-responses":
        tools = [{"type": "function", **function, "strict": False} for function in functions]
    else:
        tools = [{"type": "function", "function": function} for function in functions]
    return {
        "model": case["model"],
        "messages": case["messages"],
        **({"tools": tools} if tools else {}),
        "on_text": emit if case["stream"] else None,
        "forgiving": VARIANT == "told-errors",
        **case["options"],
    }


def _failed(exception: Exception) -> Json:
    return error(exception, "limit" if isinstance(exception, loop.LimitReached) else None)
