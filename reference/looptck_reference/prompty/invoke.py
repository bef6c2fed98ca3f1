"""Prompts as agents: the public functions of both Prompty documents, over one core.

`invoke_agent` follows the runtime specification (§9), `execute_agent` the Agent Mode guide. They differ in dialect, and
only the guide's function has a limit parameter. Both load the prompt if they get a path, fill in the inputs, use the
given tools for this run only, and return the text of the answer, or a stream of it if the prompt asks for one.

A tool of the kind `prompty` runs another prompt, its child (§9.6): in the mode `single` with one model call, in the
mode `agentic` with a whole loop. The child's inputs are the model's arguments with the parent's bindings applied, and
its handlers are those of the parent's run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import httpx

from looptck_reference.http.async_runner import AsyncRunner
from looptck_reference.http.cancellation import Cancellation
from looptck_reference.http.exchange import Exchange
from looptck_reference.http.runner import Runner
from looptck_reference.http.stepping import AsyncConfirm, Confirm
from looptck_reference.loop.loop import Loop
from looptck_reference.prompty.models import Service, options_of, service_of
from looptck_reference.prompty.prompts import Loader, Prompt
from looptck_reference.prompty.streams import AsyncPromptyStream, PromptyStream
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.dialects import PROMPTY_AGENT_MODE, PROMPTY_SPEC, Dialect
from looptck_reference.vocabulary.errors import ChildCalledTools
from looptck_reference.vocabulary.registry import REGISTRY, KindHandler, Registry
from looptck_reference.vocabulary.tools import Tool

if TYPE_CHECKING:
    from looptck_reference.http.spans import Tracing
    from looptck_reference.vocabulary.tools import Handler
    from looptck_reference.vocabulary.values import Answer, Json

__all__ = ["Invocation", "Invoker", "execute_agent", "execute_agent_async", "invoke_agent", "invoke_agent_async"]

Inputs = Mapping[str, Any]
Tools = Mapping[str, "Handler"] | Iterable[Tool]
"""Functions by tool name, or whole tools, which the model is offered in addition to the prompt's own."""


def invoke_agent(path_or_agent: str | Path | Prompt, inputs: Inputs | None = None, tools: Tools = ()) -> Any:
    """Run a prompt by the runtime specification; return its answer, or a `PromptyStream` of it."""
    return Invoker(PROMPTY_SPEC).invoke(path_or_agent, inputs, tools)


async def invoke_agent_async(
    path_or_agent: str | Path | Prompt, inputs: Inputs | None = None, tools: Tools = ()
) -> Any:
    """The same for async callers; the stream is an `AsyncPromptyStream`."""
    return await Invoker(PROMPTY_SPEC).invoke_async(path_or_agent, inputs, tools)


def execute_agent(
    agent: str | Path | Prompt, inputs: Inputs | None = None, tools: Tools = (), max_iterations: int = 10
) -> Any:
    """Run a prompt by the Agent Mode guide; return its answer, or a `PromptyStream` of it."""
    return Invoker(PROMPTY_AGENT_MODE).invoke(agent, inputs, tools, limit=max_iterations)


async def execute_agent_async(
    agent: str | Path | Prompt, inputs: Inputs | None = None, tools: Tools = (), max_iterations: int = 10
) -> Any:
    """The same for async callers; tools may be plain functions or coroutine functions."""
    return await Invoker(PROMPTY_AGENT_MODE).invoke_async(agent, inputs, tools, limit=max_iterations)


@dataclass(frozen=True, slots=True)
class Invocation:
    """A prompt that is ready to run."""

    loop: Loop
    service: Service
    stream: bool


class Invoker:
    """Runs prompts by one dialect. A subclass may change how prompts are loaded and run, and how their children run."""

    loader: ClassVar[type[Loader]] = Loader
    exchange: ClassVar[type[Exchange]] = Exchange
    runs: ClassVar[type[Runner]] = Runner
    runs_async: ClassVar[type[AsyncRunner]] = AsyncRunner

    def __init__(
        self,
        dialect: Dialect,
        *,
        loop: type[Loop] = Loop,
        registry: Registry = REGISTRY,
        tracing: Tracing | None = None,
        client: httpx.Client | None = None,
        async_client: httpx.AsyncClient | None = None,
        confirm: Confirm | None = None,
        async_confirm: AsyncConfirm | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        self.dialect = dialect
        self.loop = loop
        self.registry = registry
        self.tracing = tracing
        self.client = client
        self.async_client = async_client
        self.confirm = confirm
        self.async_confirm = async_confirm
        self.cancellation = cancellation

    def invoke(
        self, prompt: str | Path | Prompt, inputs: Inputs | None = None, tools: Tools = (), *, limit: int | None = None
    ) -> str | PromptyStream:
        """Run a prompt to its answer, or, if it is streamed, to the first piece of its text."""
        begun = self.begin(prompt, inputs, tools, limit=limit)
        runner = self.runner(begun)
        if begun.stream:
            return PromptyStream(begun.loop, runner.pieces(begun.loop, stream=True), runner.close)
        with runner:
            return runner.drive(begun.loop).text

    async def invoke_async(
        self, prompt: str | Path | Prompt, inputs: Inputs | None = None, tools: Tools = (), *, limit: int | None = None
    ) -> str | AsyncPromptyStream:
        """The same for async callers."""
        begun = self.begin(prompt, inputs, tools, limit=limit, waits=True)
        runner = self.async_runner(begun)
        if begun.stream:
            pieces = runner.pieces(begun.loop, stream=True)
            return await AsyncPromptyStream.begun(begun.loop, pieces, runner.aclose)
        async with runner:
            return (await runner.drive(begun.loop)).text

    def begin(
        self,
        prompt: str | Path | Prompt,
        inputs: Inputs | None = None,
        tools: Tools = (),
        *,
        limit: int | None = None,
        waits: bool = False,
    ) -> Invocation:
        """Load the prompt if it is a path, fill it in, and bind its tools; `waits`: its children run asynchronously."""
        found = prompt if isinstance(prompt, Prompt) else self.loader().load(Path(prompt))
        given = dict(inputs or {})
        messages = found.messages(given)
        functions, further = _split(tools)
        service = service_of(found.model)
        agent = Agent(
            model=found.model.id,
            messages=messages,
            tools=[*found.tools, *further],
            inputs=given,
            name=found.name,
            options=options_of(found.model, service.wire),
        )
        names = self.registry.for_run(functions)
        kinds = {"prompty": self.below(names).children_of(found, waits=waits)}
        registry = names.for_run(kinds=kinds)
        loop = self.loop(agent, wire=service.wire, dialect=self.dialect, limit=limit, registry=registry)
        return Invocation(loop, service, found.model.stream)

    def runner(self, begun: Invocation) -> Runner:
        """The runner for sync callers."""
        return self.runs(
            **self.runner_options(begun), client=self.client, confirm=self.confirm, cancellation=self.cancellation
        )

    def async_runner(self, begun: Invocation) -> AsyncRunner:
        """The runner for async callers."""
        return self.runs_async(**self.runner_options(begun), client=self.async_client, confirm=self.async_confirm)

    def runner_options(self, begun: Invocation) -> dict[str, Any]:
        """The arguments that both runners have in common."""
        return {
            "base_url": begun.service.base_url,
            "api_key": begun.service.api_key,
            "wire": begun.loop.wire,
            "tracing": self.tracing,
            "exchange": self.exchange,
        }

    # Children

    def below(self, registry: Registry, dialect: Dialect | None = None) -> Self:
        """An invoker for the children of a run, with the handlers of that run."""
        return type(self)(
            dialect or self.dialect,
            loop=self.loop,
            registry=registry,
            tracing=self.tracing,
            client=self.client,
            async_client=self.async_client,
            confirm=self.confirm,
            async_confirm=self.async_confirm,
            cancellation=self.cancellation,
        )

    def children_of(self, parent: Prompt, *, waits: bool) -> KindHandler:
        """The handler of the prompt's tools of the kind `prompty`."""
        run = self.run_child_async if waits else self.run_child
        return lambda tool, arguments, _agent, _inputs: run(tool, parent.children[tool.name], arguments)

    def run_child(self, tool: Tool, child: Prompt, arguments: Json) -> str:
        """Run the prompt of a tool; its answer is the tool's result."""
        begun = self.begin_child(tool, child, arguments)
        with self.runner(begun) as runner:
            return _value(tool, runner.drive(begun.loop, stream=begun.stream))

    async def run_child_async(self, tool: Tool, child: Prompt, arguments: Json) -> str:
        """The same for async callers."""
        begun = self.begin_child(tool, child, arguments, waits=True)
        async with self.async_runner(begun) as runner:
            return _value(tool, await runner.drive(begun.loop, stream=begun.stream))

    def begin_child(self, tool: Tool, child: Prompt, arguments: Json, *, waits: bool = False) -> Invocation:
        """Prepare a child. In the mode `single` its model is asked once, and no tool call is run."""
        if tool.options["mode"] == "agentic":
            return self.begin(child, arguments, waits=waits)
        once = self.below(self.registry, replace(self.dialect, runs_calls_on=frozenset()))
        return once.begin(child, arguments, limit=1, waits=waits)


def _value(tool: Tool, answer: Answer) -> str:
    if answer.calls:
        names = ", ".join(call.name for call in answer.calls)
        raise ChildCalledTools(f"the prompt of tool {tool.name!r} called {names}, which requires the mode agentic")
    return answer.text


def _split(tools: Tools) -> tuple[dict[str, Handler], list[Tool]]:
    """Handlers by name, and the tools to offer in addition to the prompt's own."""
    if isinstance(tools, Mapping):
        return dict(tools), []
    further = list(tools)
    return {tool.name: tool.handler for tool in further if tool.handler is not None}, further
