"""Broken loops for the profile ``prompty-spec``: bindings, dispatch, prompts that run prompts, and spans."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from opentelemetry import context, trace
from opentelemetry.trace import Span

from looptck_reference.agent import Agent
from looptck_reference.driver import Driver
from looptck_reference.invoke import Invocation, Invoker
from looptck_reference.loop import Loop
from looptck_reference.prompts import Loader, Prompt
from looptck_reference.registry import Registry
from looptck_reference.spans import RunSpans, Tracing
from looptck_reference.tools import Handler, Tool
from looptck_reference.values import Delta, Json, ToolCall, ToolResult, Turn
from looptck_reference.wires import ChatStream, ChatWire, Wire
from meta.loops.broken_streams import Eager, EagerChat, EagerStream
from meta.loops.speaking import speaking

# -- bindings -------------------------------------------------------------------------------------------------------


def _bound(tool: Tool | None, inputs: Mapping[str, Any]) -> Json:
    """What the bindings of a tool inject."""
    bindings = {} if tool is None else tool.bindings
    return {name: inputs[source] for name, source in bindings.items() if source in inputs}


class ModelKnowsBetter(Driver):
    """Keeps what the model wrote for a bound parameter: `spec-binding-overrides-the-model`."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        def bind(self, tool: Tool | None, arguments: Json) -> Json:
            return {**_bound(tool, self.agent.inputs), **arguments}


class NullInjected(Driver):
    """Injects null where the input is not there: `spec-binding-needs-its-input`."""

    class loop(Loop):  # noqa: N801
        def bind(self, tool: Tool | None, arguments: Json) -> Json:
            absent = dict.fromkeys(() if tool is None else tool.bindings)
            return {**arguments, **absent, **_bound(tool, self.agent.inputs)}


class FirstBindingOnly(Driver):
    """Applies the first binding of a tool and forgets the others: `spec-bindings-are-injected`."""

    class loop(Loop):  # noqa: N801
        def bind(self, tool: Tool | None, arguments: Json) -> Json:
            first = dict(list(_bound(tool, self.agent.inputs).items())[:1])
            return {**arguments, **first}


class Telltale(Driver):
    """Echoes the arguments with what was injected: `spec-injected-values-are-not-echoed`."""

    class loop(Loop):  # noqa: N801
        def append_turn(self, turn: Turn) -> None:
            calls = [
                replace(call, arguments=json.dumps({**json.loads(call.arguments), **self.injected(call)}))
                for call in turn.calls
            ]
            super().append_turn(replace(turn, calls=tuple(calls)))

        def injected(self, call: ToolCall) -> Json:
            """What the bindings of its tool add to a call."""
            return _bound(self.tools.get(call.name), self.agent.inputs)


class EverythingOffered(Driver):
    """Offers bound parameters too: `spec-bound-parameters-are-not-offered`."""

    class tool(Tool):  # noqa: N801
        @property
        def offered(self) -> Json:
            return dict(self.parameters)


# -- dispatch -------------------------------------------------------------------------------------------------------


class KindFirst(Driver):
    """Asks the handler of the kind before that of the name: `spec-name-registry-wins`."""

    class loop(Loop):  # noqa: N801
        def handler_for(self, call: ToolCall) -> Handler | None:
            return self.handler_of_kind(call) or self.handler_of_name(call)


class Unkind(Driver):
    """Knows no handlers of kinds: `spec-kind-handler-is-the-fallback`."""

    class loop(Loop):  # noqa: N801
        def handler_of_kind(self, call: ToolCall) -> Handler | None:
            return None


class BoundByNameOnly(Driver):
    """Applies bindings only where a tool has a handler of its name: `spec-bindings-come-before-dispatch`."""

    class loop(Loop):  # noqa: N801
        def bind(self, tool: Tool | None, arguments: Json) -> Json:
            by_name = tool is not None and self.registry.get_tool(tool.name) is not None
            return super().bind(tool, arguments) if by_name else arguments


class Clinging(Driver):
    """Keeps the handlers of a run for the runs after it: `spec-runtime-tools-last-one-run`."""

    class loop(Loop):  # noqa: N801
        kept = Registry()

        def handler_of_name(self, call: ToolCall) -> Handler | None:
            handler = super().handler_of_name(call) or self.kept.get_tool(call.name)
            if handler is not None:
                self.kept.register_tool(call.name, handler)
            return handler


class OneForAll(Driver):
    """Has one registry for all runs, in which the last handler of a name wins: `spec-runtime-tools-do-not-mix`."""

    class loop(Loop):  # noqa: N801
        shared = Registry()

        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            for name in self.tools:
                handler = self.registry.get_tool(name)
                if handler is not None:
                    self.shared.register_tool(name, handler)

        def handler_of_name(self, call: ToolCall) -> Handler | None:
            known = super().handler_of_name(call)
            return known and self.shared.get_tool(call.name)


# -- messages and streams -------------------------------------------------------------------------------------------


class ListedContent(ChatWire):
    """Wraps the text of a result in a list."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        messages = super().results(results)
        return [{**one, "content": [{"type": "text", "text": one["content"]}]} for one in messages]


class ResultsAsLists(Driver):
    """Sends lists where a text is due: `spec-tool-message-format`."""

    wires = speaking(chat=ListedContent())


class Talkative(Driver):
    """Gives the text of tool turns to its caller: `spec-no-text-of-a-tool-turn`."""

    class loop(Loop):  # noqa: N801
        def forwards(self, delta: Delta) -> bool:
            return True


class Impatient(Driver):
    """Runs a tool while a long call is written, with no arguments: `spec-arguments-are-whole-before-tools-run`."""

    class loop(Eager.loop):  # noqa: N801
        def __init__(self, agent: Agent, *, wire: Wire, **options: Any) -> None:
            super().__init__(agent, wire=wire, **options)
            if isinstance(wire, ChatWire):
                self.wire = ImpatientChat(self)


class ImpatientChat(EagerChat):
    """The wire of `Impatient`."""

    def stream(self) -> ChatStream:
        """A stream that has calls run at once."""
        return ImpatientStream(self.loop)


class ImpatientStream(EagerStream):
    """The stream of `Impatient`."""

    def add_call(self, delta: Json) -> None:
        """Run it at the tenth piece of its arguments, whatever they say by then."""
        ChatStream.add_call(self, delta)
        call = self._calls[-1]
        if len(call.arguments) >= 10:
            self.loop.run_early(replace(call.whole(), arguments="{}"))


# -- prompts that run prompts ---------------------------------------------------------------------------------------


class FromHere(Driver):
    """Looks for the prompts of tools where it was started: `spec-child-path-is-relative-to-its-parent`."""

    class invoker(Invoker):  # noqa: N801
        class loader(Loader):  # noqa: N801
            def child_path(self, parent: Path, entry_path: str) -> Path:
                return Path(entry_path)


class FromTheTop(Driver):
    """Looks for the child of a child beside the first prompt: `spec-child-path-is-relative-to-its-parent`."""

    class invoker(Invoker):  # noqa: N801
        class loader(Loader):  # noqa: N801
            def child_path(self, parent: Path, entry_path: str) -> Path:
                top = parent.parent if parent.name == "parent.prompty" else parent.parent.parent
                return top / entry_path


class AskedOnce(Driver):
    """Asks the model of an agentic child once: `spec-agentic-child-loops`."""

    class invoker(Invoker):  # noqa: N801
        def begin_child(self, tool: Tool, child: Prompt, arguments: Json, *, waits: bool = False) -> Invocation:
            once = replace(tool, options={**tool.options, "mode": "single"})
            return super().begin_child(once, child, arguments, waits=waits)


class AlwaysLooping(Driver):
    """Runs a whole loop for a single child too: `spec-single-child-calls-once`."""

    class invoker(Invoker):  # noqa: N801
        def begin_child(self, tool: Tool, child: Prompt, arguments: Json, *, waits: bool = False) -> Invocation:
            looping = replace(tool, options={**tool.options, "mode": "agentic"})
            return super().begin_child(looping, child, arguments, waits=waits)


class Orphaned(Driver):
    """Gives a child no arguments: `spec-child-gets-arguments-and-bindings`."""

    class invoker(Invoker):  # noqa: N801
        def begin_child(self, tool: Tool, child: Prompt, arguments: Json, *, waits: bool = False) -> Invocation:
            return super().begin_child(tool, child, {}, waits=waits)


# -- spans ----------------------------------------------------------------------------------------------------------


class Beside(Driver):
    """Tells the runs of children beside that of their parent: `spec-child-spans-are-nested`."""

    class tracing(Tracing):  # noqa: N801
        def around(self) -> context.Context:
            here = trace.get_current_span()
            if not here.is_recording():
                self.outside = context.get_current()
            return self.outside


class Untold(Driver):
    """Tells nothing of tools: `spec-tool-span-for-each-call`."""

    class tracing(Tracing):  # noqa: N801
        class inside(RunSpans):  # noqa: N801
            @contextmanager
            def tool_call(self, call: ToolCall) -> Iterator[Span]:
                yield trace.INVALID_SPAN


class Nameless(Driver):
    """Tells of tools, and not of which: `spec-tool-span-for-each-call`."""

    class tracing(Tracing):  # noqa: N801
        class inside(RunSpans):  # noqa: N801
            @contextmanager
            def tool_call(self, call: ToolCall) -> Iterator[Span]:
                with super().tool_call(replace(call, name="tool")) as span:
                    yield span


class Untimely(Driver):
    """Has the span of a run end before it begins: `spec-run-is-one-span`."""

    class tracing(Tracing):  # noqa: N801
        class inside(RunSpans):  # noqa: N801
            @contextmanager
            def model_call(self) -> Iterator[Span]:
                with super().model_call() as span:
                    yield span
                trace.get_current_span(self._inside).end(end_time=1)
