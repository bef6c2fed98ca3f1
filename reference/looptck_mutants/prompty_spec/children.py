"""Prompts that run as tools: children that are found, started or answered wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.parts import breaks
from looptck_mutants.prompty_spec.handlers import ErrorReporting
from looptck_reference.http.runner import Runner
from looptck_reference.http.stepping import OnNews, OnText, nowhere
from looptck_reference.loop.loop import Loop
from looptck_reference.prompty.invoke import Invocation, Invoker
from looptck_reference.prompty.prompts import Loader, Prompt
from looptck_reference.vocabulary.errors import LoopError
from looptck_reference.vocabulary.registry import KindHandler
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Answer, Json, ToolResult


class NoSuchChild(LoopError):
    """The prompt of a tool is missing at the place where the mutant looks for it."""

    reason = "tool"


@breaks("spec-child-path-is-relative-to-its-parent")
class FromHere(Loader):
    """Resolves the paths of tool prompts from the working directory."""

    def child_path(self, parent: Path, entry_path: str) -> Path:
        if not Path(entry_path).is_file():
            raise NoSuchChild(f"there is no prompt at {entry_path}")
        return Path(entry_path)


@breaks("spec-child-path-is-relative-to-its-parent")
class LastOfTheFolder(Loader):
    """Loads the last prompt of a folder for any file name without a folder."""

    def child_path(self, parent: Path, entry_path: str) -> Path:
        path = super().child_path(parent, entry_path)
        return path if path.parent != parent.parent else max(parent.parent.glob("*.prompty"))


@breaks("spec-child-gets-arguments-and-bindings")
class FirstArgumentAlone(Invoker):
    """Passes a child only its first argument."""

    def begin_child(self, tool: Tool, child: Prompt, arguments: Json, *, waits: bool = False) -> Invocation:
        first = dict([*arguments.items()][:1])
        return super().begin_child(tool, child, first, waits=waits)


@breaks("spec-child-gets-arguments-and-bindings")
class ParentsInputsToo(Invoker):
    """Passes a child the inputs of its parent wherever the model has written nothing."""

    def children_of(self, parent: Prompt, *, waits: bool) -> KindHandler:
        run = super().children_of(parent, waits=waits)
        return lambda tool, arguments, agent, inputs: run(tool, {**inputs, **arguments}, agent, inputs)


@breaks("spec-single-child-calls-once")
class AlwaysLooping(Invoker):
    """Runs a whole loop for a child of mode `single` too."""

    def begin_child(self, tool: Tool, child: Prompt, arguments: Json, *, waits: bool = False) -> Invocation:
        looping = replace(tool, options={**tool.options, "mode": "agentic"})
        return super().begin_child(looping, child, arguments, waits=waits)


@breaks("spec-agentic-child-loops")
class AskedOnce(Invoker):
    """Asks the model of an agentic child only once."""

    def begin_child(self, tool: Tool, child: Prompt, arguments: Json, *, waits: bool = False) -> Invocation:
        once = replace(tool, options={**tool.options, "mode": "single"})
        return super().begin_child(once, child, arguments, waits=waits)


@breaks("spec-agentic-child-loops")
class ResultsWithheld(Invoker):
    """Does not send the results of a child's tools to its model."""

    def begin_child(self, tool: Tool, child: Prompt, arguments: Json, *, waits: bool = False) -> Invocation:
        begun = super().begin_child(tool, child, arguments, waits=waits)
        begun.loop.dialect = replace(begun.loop.dialect, result_text=lambda _: "done")
        return begun


@breaks("spec-prompty-tool-offers-its-childs-inputs")
class NothingTaken(Loader):
    """Offers prompts as tools without parameters."""

    def load(self, *arguments: Any, **named: Any) -> Prompt:
        prompt = super().load(*arguments, **named)
        nothing = {"type": "object", "properties": {}}
        bare = (replace(one, parameters=nothing) if one.kind == "prompty" else one for one in prompt.tools)
        return replace(prompt, tools=tuple(bare))


@breaks("spec-child-has-a-history-of-its-own")
class ChildJoinsIn(Loop):
    """Adds a child's answer to its parent's messages as a user message."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results)
        children = [result for result in results if self.tools[result.name].kind == "prompty"]
        self.history += [{"role": "user", "content": result.text} for result in children]


@breaks("spec-child-counts-its-own-iterations")
class HalfTheLimit(Invoker):
    """Halves the limit for children."""

    def begin_child(self, tool: Tool, child: Prompt, arguments: Json, *, waits: bool = False) -> Invocation:
        begun = super().begin_child(tool, child, arguments, waits=waits)
        begun.loop.limit = (begun.loop.limit + 1) // 2
        return begun


@breaks("spec-childs-error-ends-the-loop")
class ChildErrorsTold(ErrorReporting):
    """Reports the error of a child to the model and continues, instead of failing."""

    def reports(self, kind: str) -> bool:
        return kind == "prompty"


class Aloud(Runner):
    """Forwards the text of a child to the caller of the run that began last."""

    callers: ClassVar[list[OnText]] = [nowhere]

    def drive(
        self, loop: Loop, *, stream: bool = False, on_text: OnText = nowhere, on_news: OnNews = nowhere
    ) -> Answer:
        """Run the loop, with the last caller's `on_text` if none is given."""
        if on_text is not nowhere:
            self.callers[:] = [on_text]
        return super().drive(loop, stream=stream, on_text=self.callers[0], on_news=on_news)


@breaks("spec-childs-text-is-not-forwarded", cells=CHAT_STREAM)
class TalkingChildren(Invoker):
    """Forwards the text of a child to the caller of its parent."""

    def runner(self, begun: Invocation) -> Runner:
        return Aloud(**self.runner_options(begun), client=self.client)
