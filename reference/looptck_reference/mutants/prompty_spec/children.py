"""Children that are found, begun or answered otherwise: prompts that run as tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from looptck_reference.errors import LoopError
from looptck_reference.invoke import Invocation, Invoker
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import CHAT_STREAM, Mutant
from looptck_reference.mutants.prompty_spec.handlers import ErrorTelling
from looptck_reference.prompts import Loader, Prompt
from looptck_reference.runner import OnText, Runner, nowhere
from looptck_reference.tools import Tool
from looptck_reference.values import Answer, Json, ToolResult


class NoSuchChild(LoopError):
    """The prompt of a tool was looked for where it is not."""

    reason = "tool"


class FromHere(Mutant):
    """Looks for the prompts of tools where it was started: `spec-child-path-is-relative-to-its-parent`."""

    breaks = ("spec-child-path-is-relative-to-its-parent",)

    class invoker(Invoker):  # noqa: N801  the driver's attribute
        class loader(Loader):  # noqa: N801
            def child_path(self, parent: Path, entry_path: str) -> Path:
                if not Path(entry_path).is_file():
                    raise NoSuchChild(f"there is no prompt at {entry_path}")
                return Path(entry_path)


class LastOfTheFolder(Mutant):
    """Takes the last prompt of a folder for any that is named alone: `spec-child-path-is-relative-to-its-parent`."""

    breaks = ("spec-child-path-is-relative-to-its-parent",)

    class invoker(Invoker):  # noqa: N801
        class loader(Loader):  # noqa: N801
            def child_path(self, parent: Path, entry_path: str) -> Path:
                path = super().child_path(parent, entry_path)
                return path if path.parent != parent.parent else max(parent.parent.glob("*.prompty"))


class FirstArgumentAlone(Mutant):
    """Gives a child the first of its arguments and no others: `spec-child-gets-arguments-and-bindings`."""

    breaks = ("spec-child-gets-arguments-and-bindings",)

    class invoker(Invoker):  # noqa: N801
        def begin_child(self, tool: Tool, child: Prompt, arguments: Json, *, waits: bool = False) -> Invocation:
            first = dict([*arguments.items()][:1])
            return super().begin_child(tool, child, first, waits=waits)


class AlwaysLooping(Mutant):
    """Runs a whole loop for a single child too: `spec-single-child-calls-once`."""

    breaks = ("spec-single-child-calls-once",)

    class invoker(Invoker):  # noqa: N801
        def begin_child(self, tool: Tool, child: Prompt, arguments: Json, *, waits: bool = False) -> Invocation:
            looping = replace(tool, options={**tool.options, "mode": "agentic"})
            return super().begin_child(looping, child, arguments, waits=waits)


class AskedOnce(Mutant):
    """Asks the model of an agentic child once: `spec-agentic-child-loops`."""

    breaks = ("spec-agentic-child-loops",)

    class invoker(Invoker):  # noqa: N801
        def begin_child(self, tool: Tool, child: Prompt, arguments: Json, *, waits: bool = False) -> Invocation:
            once = replace(tool, options={**tool.options, "mode": "single"})
            return super().begin_child(once, child, arguments, waits=waits)


class ResultsWithheld(Mutant):
    """Does not tell the model of a child what its tools gave: `spec-agentic-child-loops`."""

    breaks = ("spec-agentic-child-loops",)

    class invoker(Invoker):  # noqa: N801
        def begin_child(self, tool: Tool, child: Prompt, arguments: Json, *, waits: bool = False) -> Invocation:
            begun = super().begin_child(tool, child, arguments, waits=waits)
            begun.loop.dialect = replace(begun.loop.dialect, result_text=lambda _: "done")
            return begun


class NothingTaken(Mutant):
    """Offers prompts as tools without parameters: `spec-prompty-tool-offers-its-childs-inputs`."""

    breaks = ("spec-prompty-tool-offers-its-childs-inputs",)

    class invoker(Invoker):  # noqa: N801
        class loader(Loader):  # noqa: N801
            def load(self, *arguments: Any, **named: Any) -> Prompt:
                prompt = super().load(*arguments, **named)
                nothing = {"type": "object", "properties": {}}
                bare = (replace(one, parameters=nothing) if one.kind == "prompty" else one for one in prompt.tools)
                return replace(prompt, tools=tuple(bare))


class ChildJoinsIn(Mutant):
    """Adds what a child answered to its parent's messages as the user's: `spec-child-has-a-history-of-its-own`."""

    breaks = ("spec-child-has-a-history-of-its-own",)

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results)
            children = [result for result in results if self.tools[result.name].kind == "prompty"]
            self.history += [{"role": "user", "content": result.text} for result in children]


class HalfTheLimit(Mutant):
    """Allows a child half of what it allows other loops: `spec-child-counts-its-own-iterations`."""

    breaks = ("spec-child-counts-its-own-iterations",)

    class invoker(Invoker):  # noqa: N801
        def begin_child(self, tool: Tool, child: Prompt, arguments: Json, *, waits: bool = False) -> Invocation:
            begun = super().begin_child(tool, child, arguments, waits=waits)
            begun.loop.limit = (begun.loop.limit + 1) // 2
            return begun


class ChildErrorsTold(Mutant):
    """Tells the model of the error of a child, and goes on: `spec-childs-error-ends-the-loop`."""

    breaks = ("spec-childs-error-ends-the-loop",)

    class loop(ErrorTelling):  # noqa: N801
        def tells(self, kind: str) -> bool:
            return kind == "prompty"


class Aloud(Runner):
    """Gives the text of a child to the caller of the run that was begun last."""

    callers: ClassVar[list[OnText]] = [nowhere]

    def drive(self, loop: Loop, *, stream: bool = False, on_text: OnText = nowhere) -> Answer:
        """With the last caller, where there is none."""
        if on_text is not nowhere:
            self.callers[:] = [on_text]
        return super().drive(loop, stream=stream, on_text=self.callers[0])


class TalkingChildren(Mutant):
    """Gives what a child says to the caller of its parent: `spec-childs-text-is-not-forwarded`."""

    breaks = ("spec-childs-text-is-not-forwarded",)
    cells = CHAT_STREAM

    class invoker(Invoker):  # noqa: N801
        def runner(self, begun: Invocation) -> Runner:
            where, wire = begun.service, begun.loop.wire
            return Aloud(where.base_url, where.api_key, wire=wire, client=self.client, tracing=self.tracing)
