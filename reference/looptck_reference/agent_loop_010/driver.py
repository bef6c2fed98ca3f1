"""The driver with which the kit runs the loop of Agent/Loop 010.

A variant of the loop is a subclass that names the part it replaces:

    class Patient(CallScheduler):
        def unblocked(self):
            return super().unblocked() if self.stream_closed else ()

    class Broken(Driver):
        class loop(SolutionLoop):
            tick = Patient
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import httpx

import looptck_reference
from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.confirmation import Confirmation, Decision, decision
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.requests import Requests
from looptck_reference.kit.posting import AsyncPosts
from looptck_reference.kit.toolbox import LOOPBACK, value_of
from looptck_reference.vocabulary.errors import LoopError
from looptck_reference.vocabulary.tools import Handler, Tool
from looptck_reference.vocabulary.values import Json
from looptck_reference.wires import ANTHROPIC_MESSAGES, OPENAI_CHAT, OPENAI_RESPONSES, Wire

__all__ = ["Driver"]

TIMEOUT = 30.0

CAPABILITIES = (
    "stream", "limit", "confirm", "latent", "expressions", "methods", "plans", "instances", "concurrent",
)  # fmt: skip


class Driver:
    """Runs the kit's cases on the loop."""

    loop: ClassVar[type[SolutionLoop]] = SolutionLoop
    requests: ClassVar[type[Requests]] = Requests
    wires: ClassVar[Mapping[str, Wire]] = {
        "openai-chat": OPENAI_CHAT,
        "openai-responses": OPENAI_RESPONSES,
        "anthropic-messages": ANTHROPIC_MESSAGES,
    }

    def start(self) -> Json:
        """The description of the loop and its capabilities."""
        return {
            "protocol": 1,
            "name": "looptck-reference-010",
            "version": looptck_reference.__version__,
            "language": "python",
            "wires": sorted(self.wires),
            "modes": ["async"],
            "profiles": ["agent-loop-010"],
            "capabilities": dict.fromkeys(CAPABILITIES, True),
        }

    def run(self, case: Json, emit: Callable[[str], object]) -> Json:
        """Run one case for a caller without an event loop."""
        return asyncio.run(self.run_async(case, emit))

    async def run_async(self, case: Json, emit: Callable[[str], object]) -> Json:
        """Run one case."""
        try:
            async with httpx.AsyncClient(**LOOPBACK, timeout=TIMEOUT) as client, AsyncPosts() as posts:
                output = await self._loop(case, client, posts).run()
        except Exception as error:  # noqa: BLE001 - any exception that reaches the caller of the loop is the outcome
            reason = error.reason if isinstance(error, LoopError) else "other"
            return {"kind": "error", "reason": reason, "type": type(error).__name__, "message": str(error)}
        return {"kind": "value", "text": None, "output": output}

    def stop(self) -> None:
        """Nothing to close: no resource outlives a run."""

    def _loop(self, case: Json, client: httpx.AsyncClient, posts: AsyncPosts) -> SolutionLoop:
        request = self.requests(
            case["base_url"],
            case["api_key"],
            case["model"],
            wire=self.wires[case["wire"]],
            stream=case["stream"],
            client=client,
        )
        confirm = case.get("confirm")
        return self.loop(
            request,
            case["context"],
            [_tool(tool, posts) for tool in case["tools"]],
            case["output_schema"],
            confirmation=None if confirm is None else _confirmation(confirm, posts),
            limit=case["options"].get("limit"),
        )


def _tool(tool: Json, posts: AsyncPosts) -> Tool:
    handler = None if tool["url"] is None else _activity(tool["url"], posts)
    return Tool(tool["name"], tool["description"], tool["parameters"], handler)


def _activity(url: str, posts: AsyncPosts) -> Handler:
    """An Activity that passes its arguments to the kit, and returns or raises what the kit answers."""

    async def ask_the_kit(**arguments: Any) -> Any:
        return value_of(await posts.post(url, {"arguments": arguments}))

    return ask_the_kit


def _confirmation(url: str, posts: AsyncPosts) -> Confirmation:
    async def ask_the_kit(call: Call) -> Decision:
        return decision(await posts.post(url, {"call": call.raw}))

    return ask_the_kit
