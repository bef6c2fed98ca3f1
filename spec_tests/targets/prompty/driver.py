"""The driver of Microsoft's Prompty: each case becomes an agent, and ``prompty.turn`` runs its loop."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import prompty

sys.path.append(str(Path(__file__).resolve().parents[1]))

from shared import Json, answered, async_handlers, failed, handlers

TRIES = 2
"""Prompty waits two to three seconds before it asks a second time and four to five before a third, whatever the
service says about waiting; its default of three tries would cost minutes and show nothing that two do not."""


class Driver:
    """Runs the kit's cases on Prompty."""

    def start(self) -> Json:
        return {
            "protocol": 1,
            "name": "prompty",
            "version": prompty.VERSION,
            "language": "python",
            "wires": ["openai-chat"],
            "modes": ["sync", "async"],
            "profiles": ["prompty-spec"],
            "capabilities": {"stream": True, "chunks": True, "limit": True, "concurrent": True},
            "dialect": {"limit_counts": "tool-rounds"},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        try:
            return _answered(prompty.turn(_agent(case), case["inputs"], tools=handlers(case), **_options(case, emit)))
        except Exception as error:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(error)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        try:
            options = _options(case, emit)
            return _answered(
                await prompty.turn_async(_agent(case), case["inputs"], tools=async_handlers(case), **options)
            )
        except Exception as error:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(error)


def _agent(case: Json) -> prompty.Agent:
    """The case in the words of a ``.prompty`` file: its frontmatter, and its body as instructions."""
    return prompty.Agent.load(
        {
            "name": case["agent"]["name"],
            "description": case["agent"]["description"],
            "model": {
                "id": case["model"],
                "provider": "openai",
                "apiType": "chat",
                "connection": {"kind": "key", "endpoint": case["base_url"], "apiKey": case["api_key"]},
                "options": {"additionalProperties": {"stream": True}} if case["stream"] else {},
            },
            "inputs": [{"name": name, "kind": "string"} for name in case["inputs"]],
            "tools": [_tool(tool) for tool in case["tools"]],
            "instructions": "\n\n".join(f"{part['role']}:\n{part['content']}" for part in case["agent"]["template"]),
        }
    )


def _tool(tool: Json) -> Json:
    schema = tool["parameters"]
    return {
        "name": tool["name"],
        "kind": tool["kind"],
        "description": tool["description"],
        "parameters": [
            {
                "name": name,
                "kind": one["type"],
                "description": one.get("description"),
                "required": name in schema.get("required", []),
            }
            for name, one in schema["properties"].items()
        ],
    }


def _options(case: Json, emit: Callable[[str], None]) -> dict[str, Any]:
    def hear(event: str, data: Json) -> None:
        if event == "token":
            emit(data["token"])

    options: dict[str, Any] = {"max_llm_retries": TRIES}
    if case["stream"]:
        options["on_event"] = hear
    if "limit" in case["options"]:
        options["max_iterations"] = case["options"]["limit"]
    return options


def _answered(result: object) -> Json:
    """Prompty returns calls that it did not run as a list of ``ToolCall``."""
    if isinstance(result, list):
        return {**answered(None), "stop": "calls"}
    return answered(result if isinstance(result, str | None) else str(result))


def _failed(error: Exception) -> Json:
    message = str(error)
    if message.startswith("Agent loop exceeded"):
        return failed(error, "limit")
    return failed(error, "refusal" if message.startswith("Model refused") else None)
