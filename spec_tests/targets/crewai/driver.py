"""The driver of CrewAI: each case becomes an ``Agent`` that is asked directly, with ``kickoff``.

``README.md`` says what is chosen here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

os.environ.update(  # read when CrewAI is imported: nothing is reported, and nobody is asked whether to
    CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_TRACING_ENABLED="false", CREWAI_TESTING="true"
)

from crewai import LLM, Agent
from crewai.tools import BaseTool, tool
from crewai.utilities.pydantic_schema_utils import create_model_from_schema

from looptck.driver import error, handlers, started, value
from looptck.signatures import written

Json = dict[str, Any]

PROVIDERS = {"openai-chat": "openai", "anthropic-messages": "anthropic"}
"""The provider of a model, by the wire."""


class Driver:
    """Runs the kit's cases on CrewAI."""

    def start(self) -> Json:
        """What the loop is and can do."""
        return started(
            "crewai",
            version("crewai"),
            wires=list(PROVIDERS),
            modes=["sync", "async"],
            dialect={"limit_counts": "model-calls"},
            stream=True,
            limit=True,
            concurrent=True,
        )

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in sync mode."""
        try:
            agent, said = _arguments(case)
            return value(agent.kickoff(said).raw)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return error(exception)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in async mode."""
        try:
            agent, said = _arguments(case)
            return value((await agent.kickoff_async(said)).raw)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return error(exception)


def _arguments(case: Json) -> tuple[Agent, Any]:
    """An agent and its messages. The system prompt is the agent's backstory, for an agent needs one."""
    system = [message["content"] for message in case["messages"] if message["role"] == "system"]
    said = [message for message in case["messages"] if message["role"] != "system"]
    functions = handlers(case)
    options = {"max_iter": case["options"]["limit"]} if "limit" in case["options"] else {}
    agent = Agent(
        role=case["agent"]["name"],
        goal=case["agent"]["description"] or "Answer.",
        backstory="\n".join(system) or "None.",
        llm=_model(case),
        tools=[_tool(one, functions[one["name"]]) for one in case["tools"] if one["name"] in functions],
        **options,
    )
    return agent, said[0]["content"] if len(said) == 1 else said


def _model(case: Json) -> Any:
    url = case["base_url"]
    if case["wire"] == "anthropic-messages":
        url = url.removesuffix("/v1")
    known = {"provider": PROVIDERS[case["wire"]], "base_url": url, "api_key": case["api_key"]}
    return LLM(model=case["model"], stream=case["stream"], **known)


def _tool(offered: Json, call: Callable[..., Any]) -> Any:
    """The tool as a decorated function; as a class with a schema where no signature can express it."""
    if function := written(offered, call):
        return tool(offered["name"])(function)

    class Declared(BaseTool):
        def _run(self, **arguments: Any) -> Any:
            return call(**arguments)

    schema = create_model_from_schema(offered["parameters"], model_name="Arguments")
    return Declared(name=offered["name"], description=offered["description"], args_schema=schema)
