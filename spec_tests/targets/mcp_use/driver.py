"""The driver of mcp-use: an agent whose tools come from MCP servers alone.

``README.md`` says what is chosen here.
"""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import Any

os.environ["MCP_USE_ANONYMIZED_TELEMETRY"] = "false"

from langchain_core.messages import AIMessage, HumanMessage
from langchain_openai import ChatOpenAI
from mcp_use import MCPAgent, MCPClient

from looptck.driver import Case, Outcome, Started, error, started, value

SAYS = {"user": HumanMessage, "assistant": AIMessage}


class Driver:
    """Runs the kit's cases on an `MCPAgent`."""

    def start(self) -> Started:
        """What the agent is and can do."""
        return started("mcp-use", version("mcp-use"), wires=["openai-chat"], modes=["async"], limit=True)

    async def run_async(self, case: Case, emit: Any) -> Outcome:
        """Run an agent of its own for each case, which closes its sessions itself."""
        try:
            return value(await _answer(case))
        except Exception as exception:  # noqa: BLE001 - any error of the agent is an outcome
            return error(exception)


async def _answer(case: Case) -> str:
    model = ChatOpenAI(model=case["model"], base_url=case["base_url"], api_key=case["api_key"])
    *before, question = [one for one in case["messages"] if one["role"] != "system"]
    limit = {"max_steps": case["options"]["limit"]} if "limit" in case["options"] else {}
    agent = MCPAgent(
        llm=model,
        client=MCPClient({"mcpServers": {"kit": {"url": case["tools_url"]}}}),
        system_prompt="\n".join(one["content"] for one in case["messages"] if one["role"] == "system"),
        **limit,
    )
    history = [SAYS[one["role"]](one["content"]) for one in before] or None
    return str(await agent.run(question["content"], external_history=history))
