"""What the drivers of Microsoft's Prompty share: each case becomes an agent, and ``prompty.turn`` runs its loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import prompty
from shared import Json, answered, async_handlers, failed, handlers

TRIES = 2
"""Prompty waits two to three seconds before it asks a second time and four to five before a third, whatever the
service says about waiting; its default of three tries would cost minutes and show nothing that two do not."""

MODELS = {
    "openai-chat": {"provider": "openai", "apiType": "chat"},
    "openai-responses": {"provider": "openai", "apiType": "responses"},
    "anthropic-messages": {"provider": "anthropic", "apiType": "chat"},
}
"""What the frontmatter of a ``.prompty`` file says for each wire."""


class TurnDriver:
    """Runs the kit's cases on Prompty."""

    name: ClassVar[str]
    wires: ClassVar[tuple[str, ...]]
    streams: ClassVar[bool]

    def start(self) -> Json:
        return {
            "protocol": 1,
            "name": self.name,
            "version": prompty.VERSION,
            "language": "python",
            "wires": list(self.wires),
            "modes": ["sync", "async"],
            "profiles": ["prompty-spec"],
            "capabilities": {"stream": self.streams, "chunks": self.streams, "limit": True, "concurrent": True},
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
    endpoint = case["base_url"]
    if case["wire"] == "anthropic-messages":
        endpoint = endpoint.removesuffix("/v1")
    return prompty.Agent.load(
        {
            "name": case["agent"]["name"],
            "description": case["agent"]["description"],
            "model": {
                "id": case["model"],
                **MODELS[case["wire"]],
                "connection": {"kind": "key", "endpoint": endpoint, "apiKey": case["api_key"]},
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
