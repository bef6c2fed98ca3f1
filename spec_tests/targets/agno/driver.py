"""The driver of Agno: each case becomes an agent with a model of the case's wire.

Agno raises next to nothing: a run that failed comes back with the error's text as its content. ``README.md`` says what
is chosen here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from agno.agent import Agent, RunEvent, RunOutput
from agno.models.anthropic import Claude
from agno.models.base import Model
from agno.models.openai import OpenAIChat, OpenAIResponses
from agno.run.base import RunStatus
from agno.tools.function import Function
from output_classes import written_class
from pydantic import BaseModel

from looptck.driver import error, handlers, value
from looptck.signatures import written

Json = dict[str, Any]
VARIANT = os.environ.get("LOOPTCK_VARIANT", "")
"""The second usual way that is to be driven (``variants.yaml``); empty for the first."""

STREAMED: Json = {"stream": True, "yield_run_output": True}


class Driver:
    """Runs the kit's cases on Agno."""

    def start(self) -> Json:
        """What the loop is and can do. Its only limit counts calls of tools, which is not what a case sets."""
        return {
            "protocol": 1,
            "name": f"agno@{VARIANT}" if VARIANT else "agno",
            "version": version("agno"),
            "language": "python",
            "wires": ["openai-chat", "openai-responses", "anthropic-messages"],
            "modes": ["sync", "async"],
            "profiles": [],
            "capabilities": {"stream": True, "chunks": True, "concurrent": True, "output": True},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in sync mode."""
        try:
            agent, said = _arguments(case, handlers(case))
            if not case["stream"]:
                return _answered(agent.run(said), case)
            output: Any = None
            for event in agent.run(said, **STREAMED):
                output = _heard(event, emit, output)
            return _answered(output, case)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return error(exception)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in async mode."""
        try:
            agent, said = _arguments(case, handlers(case))
            if not case["stream"]:
                return _answered(await agent.arun(said), case)
            output: Any = None
            async for event in agent.arun(said, **STREAMED):
                output = _heard(event, emit, output)
            return _answered(output, case)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return error(exception)


def _arguments(case: Json, calls: dict[str, Callable[..., Any]]) -> tuple[Agent, Any]:
    """An agent and its input."""
    instructions = [message["content"] for message in case["messages"] if message["role"] == "system"]
    said = [message for message in case["messages"] if message["role"] != "system"]
    agent = Agent(
        model=_model(case),
        instructions=instructions,
        tools=[_tool(tool, calls[tool["name"]]) for tool in case["tools"] if tool["url"]],
        output_schema=_output_class(case),
        telemetry=False,
    )
    return agent, said[0]["content"] if len(said) == 1 else said


def _output_class(case: Json) -> Any:
    """The model class of the output, which is the way of the page; None for a text."""
    if "output_schema" not in case:
        return None
    found = written_class(case["output_schema"])
    if not isinstance(found, type):
        raise TypeError("an output has to be of a model class")
    return found


def _model(case: Json) -> Model:
    known = {"id": case["model"], "api_key": case["api_key"]}
    match case["wire"]:
        case "anthropic-messages":
            return Claude(**known, client_params={"base_url": case["base_url"].removesuffix("/v1")})
        case "openai-responses":
            return OpenAIResponses(**known, base_url=case["base_url"])
        case _:
            return OpenAIChat(**known, base_url=case["base_url"])


def _tool(tool: Json, call: Callable[..., Any]) -> Any:
    """The tool as a function; with its schema where no signature says it, or the variant wants it."""
    function = None if VARIANT == "schema" else written(tool, call)
    return function or Function(
        name=tool["name"],
        description=tool["description"],
        parameters=tool["parameters"],
        entrypoint=call,
        skip_entrypoint_processing=True,
    )


def _heard(event: Any, emit: Callable[[str], None], output: Any) -> Any:
    """Pass text on as it arrives; the output of the run, which comes last."""
    if isinstance(event, RunOutput):
        return event
    if event.event == RunEvent.run_content and event.content:
        emit(str(event.content))
    return output


def _answered(output: Any, case: Json) -> Json:
    """The content, which is what one prints; with a variant also whether the run failed."""
    if VARIANT == "status" and output.status == RunStatus.error:
        return {"kind": "error", "reason": "other", "type": "RunStatus.error", "message": str(output.content)}
    content = None if output is None else output.content
    if "output_schema" in case:
        return value(None, output=content.model_dump() if isinstance(content, BaseModel) else content)
    return value(None if content is None else str(content))
