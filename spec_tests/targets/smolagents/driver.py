"""The driver of smolagents: each case becomes a ``ToolCallingAgent``, which ends only by its tool ``final_answer``.

smolagents is sync only. ``README.md`` says what is chosen here.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from smolagents import FinalAnswerStep, OpenAIModel, Tool, ToolCallingAgent

from looptck.driver import error, handlers, started, value

Json = dict[str, Any]


class Driver:
    """Runs the kit's cases on smolagents."""

    def __init__(self) -> None:
        self._talks: dict[str, ToolCallingAgent] = {}
        """The agents of conversations, by id."""
        self._running: dict[str, ToolCallingAgent] = {}
        """The agents of the runs that are under way, by id."""

    def start(self) -> Json:
        """What the loop is and can do."""
        return started(
            "smolagents",
            version("smolagents"),
            wires=["openai-chat"],
            modes=["sync"],
            dialect={"limit_counts": "tool-rounds"},
            answer={"tool": "final_answer", "argument": "answer"},
            stream=True,
            limit=True,
            concurrent=True,
            parallel=True,
            conversations=True,
            cancel=True,
            interrupt=True,
        )

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case."""
        conversation = case.get("conversation")
        try:
            agent = self._talks.get(conversation) or _agent(case)
            known = conversation in self._talks
            if conversation is not None:
                self._talks[conversation] = agent
            self._running[case["id"]] = agent
            task = next(one["content"] for one in reversed(case["messages"]) if one["role"] == "user")
            return value(_text(_answer(agent, task, case["stream"], reset=not known)))
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return error(exception, "cancelled" if str(exception) == "Agent interrupted." else None)
        finally:
            self._running.pop(case["id"], None)

    def cancel(self, id: str) -> None:
        """Interrupt the agent of a run."""
        if id in self._running:
            self._running[id].interrupt()


def _answer(agent: ToolCallingAgent, task: str, stream: bool, *, reset: bool) -> Any:
    """What the agent returns, or the last step of its stream says."""
    if not stream:
        return agent.run(task, reset=reset)
    steps = [one for one in agent.run(task, stream=True, reset=reset) if isinstance(one, FinalAnswerStep)]
    return steps[-1].output


def _text(answer: Any) -> str | None:
    return None if answer is None else str(answer)


def _agent(case: Json) -> ToolCallingAgent:
    """The agent, with the case's tools."""
    functions = handlers(case)
    tools = [_tool(tool, functions[tool["name"]]) for tool in case["tools"] if tool["name"] in functions]
    options: Json = {"max_steps": case["options"]["limit"]} if "limit" in case["options"] else {}
    if system := [message["content"] for message in case["messages"] if message["role"] == "system"]:
        options["instructions"] = "\n\n".join(system)
    model = OpenAIModel(model_id=case["model"], api_base=case["base_url"], api_key=case["api_key"])
    return ToolCallingAgent(tools=tools, model=model, stream_outputs=case["stream"], **options)


def _tool(tool: Json, call: Callable[..., Any]) -> Tool:
    """A tool as its own class, whose inputs come with their schemas, as those of an MCP server do."""
    required = tool["parameters"].get("required", ())

    class CaseTool(Tool):
        name = tool["name"]
        description = tool["description"]
        inputs = {  # noqa: RUF012 - as smolagents wants it
            name: {
                "description": "",
                "type": "any",
                **(one if isinstance(one, dict) else {}),
                **({} if name in required else {"nullable": True}),
            }
            for name, one in tool["parameters"].get("properties", {}).items()
        }
        output_type = "any"
        skip_forward_signature_validation = True

        def forward(self, **arguments: Any) -> Any:
            return call(**arguments)

    return CaseTool()
