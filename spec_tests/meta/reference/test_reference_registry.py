"""Registries: a name comes before a kind, a run keeps what it began with, and threads do not lose registrations."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from looptck_reference import OPENAI_CHAT, PROMPTY_SPEC, Agent, Fail, Loop, Registry, Run, Tool, ToolCall, Turn
from looptck_reference.vocabulary.actions import RunTools
from looptck_reference.vocabulary.values import Json

LOOKUP = Tool("lookup", kind="shelf", bindings={"reader": "user"})


def by_name(**arguments: Any) -> str:
    """A handler of a name."""
    return f"name: {arguments}"


def by_kind(tool: Tool, arguments: Json, agent: Agent, inputs: Mapping[str, Any]) -> str:
    """A handler of a kind, which tells all that it was given."""
    return f"kind: {tool.name}, {arguments}, {agent.name}, {dict(inputs)}"


def called(registry: Registry, tool: Tool = LOOKUP) -> Run | Fail:
    """What a loop does with a call of the tool."""
    agent = Agent("m", [], [tool], {"user": "Ada"}, name="librarian")
    loop = Loop(agent, wire=OPENAI_CHAT, dialect=PROMPTY_SPEC, registry=registry)
    loop.start()
    action = loop.model_answered(Turn(calls=(ToolCall("c1", "lookup", '{"title": "Emma", "reader": "Eve"}'),)))
    assert isinstance(action, RunTools | Fail)
    return action.runs[0] if isinstance(action, RunTools) else action


def value(registry: Registry, tool: Tool = LOOKUP) -> Any:
    """What the handler returns that a call of the tool leads to."""
    run = called(registry, tool)
    assert isinstance(run, Run)
    return run.handler(**run.arguments)


BOUND = {"title": "Emma", "reader": "Ada"}


def test_a_kind_is_the_fallback() -> None:
    """Without a handler of its name a tool is run by that of its kind, with tool, arguments, agent and inputs."""
    registry = Registry({"other": by_name}, {"shelf": by_kind})

    assert f"kind: lookup, {BOUND}, librarian, {{'user': 'Ada'}}" == value(registry)


def test_a_kind_that_is_registered_replaces_one_that_a_run_brings() -> None:
    """A caller may run prompts as tools in a way of its own."""
    registry = Registry()
    registry.register_tool_handler("prompty", by_kind)

    assert by_kind is registry.for_run(kinds={"prompty": lambda *_: "built in"}).get_tool_handler("prompty")


@pytest.mark.parametrize("threads", [8])
def test_threads_lose_no_registration(threads: int) -> None:
    """All of what many threads register at once is there, names and kinds."""
    registry = Registry()
    together = threading.Barrier(threads)

    def register(number: int) -> None:
        together.wait()
        for n in range(50):
            registry.register_tool(f"{number}-{n}", by_name)
            registry.register_tool_handler(f"{number}-{n}", by_kind)

    workers = [threading.Thread(target=register, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    names = [f"{number}-{n}" for number in range(threads) for n in range(50)]
    assert all(registry.get_tool(name) and registry.get_tool_handler(name) for name in names)
