"""How one call is run and answered: the steps of the loop that look at a single call."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from looptck_reference.vocabulary import tools
from looptck_reference.vocabulary.actions import End, Fail, Raised, Run
from looptck_reference.vocabulary.dialects import Dialect, FeedBack, Policy, Propagate, Raise
from looptck_reference.vocabulary.errors import BadArguments, Reason, UnknownTool
from looptck_reference.vocabulary.parts import Parts
from looptck_reference.vocabulary.values import Json, ToolCall, ToolResult, Turn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from looptck_reference.vocabulary.agent import Agent
    from looptck_reference.vocabulary.registry import Registry
    from looptck_reference.vocabulary.tools import Handler, Tool

__all__ = ["Calling"]


class Calling:
    """The part of a loop that knows its tools."""

    agent: Agent
    dialect: Dialect
    registry: Registry
    tools: Mapping[str, Tool]
    """The tools by the name under which they are offered."""
    not_run: list[tuple[ToolCall, Exception]]
    """The calls that could not be run, with the reason: an unknown tool, or arguments that were no JSON object."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        """All calls of the turn, in order, including calls that share an id."""
        return turn.calls

    def own_name(self, call: ToolCall) -> str:
        """The name of the call's tool, which may differ from the name under which it is offered."""
        tool = self.tools.get(call.name)
        return call.name if tool is None else tool.name

    # -- before it runs -----------------------------------------------------------------------------------------------

    def needs_approval(self, call: ToolCall) -> bool:
        """Whether someone has to decide about the call before it runs: its tool says so."""
        tool = self.tools.get(call.name)
        return tool is not None and tool.approval

    def rejected(self, call: ToolCall, feedback: str) -> Run | ToolResult | Fail:
        """The consequence of a rejected call: it does not run, and the model is told why."""
        text = f"The call of tool {call.name!r} was rejected, so it was not run: {feedback}"
        return ToolResult(self.answer_id(call), call.name, text, failed=True, extra=call.extra)

    def changed(self, call: ToolCall, parameters: Json) -> ToolCall:
        """The call with these parameters in place of the model's. They are bound as ever: inputs override them too."""
        return replace(call, arguments=json.dumps({**self.parse_arguments(call.arguments), **parameters}))

    def prepare(self, call: ToolCall) -> Run | ToolResult | Fail:
        """The runnable call, or the consequence of a call that cannot be run."""
        try:
            arguments = self.parse_arguments(call.arguments)
        except BadArguments as error:
            self.not_run.append((call, error))
            return self.fault(self.dialect.bad_arguments, call, error, error.reason)
        handler = self.handler_for(call)
        if handler is None:
            unknown = UnknownTool(f"no handler is registered for tool {call.name!r}; there are {sorted(self.tools)}")
            self.not_run.append((call, unknown))
            return self.fault(self.dialect.unknown_tool, call, unknown, unknown.reason)
        return Run(call, handler, self.bind(self.tools.get(call.name), arguments))

    def parse_arguments(self, text: str) -> Json:
        """The text of the arguments as keyword arguments; see `tools.parse_arguments`."""
        return tools.parse_arguments(text)

    def bind(self, tool: Tool | None, arguments: Json) -> Json:
        """Inputs override the model's arguments; see `tools.bind`."""
        return tools.bind(tool, arguments, self.agent.inputs)

    def handler_for(self, call: ToolCall) -> Handler | None:
        """The handler of the tool's name, or else of its kind; None if there is neither."""
        return self.handler_of_name(call) or self.handler_of_kind(call)

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        """The first layer, by the exact name of the tool that was offered under the call's name."""
        return self.registry.get_tool(self.own_name(call))

    def handler_of_kind(self, call: ToolCall) -> Handler | None:
        """The second layer; a tool that the agent does not have has no kind."""
        tool = self.tools.get(call.name)
        handler = None if tool is None else self.registry.get_tool_handler(tool.kind)
        if tool is None or handler is None:
            return None
        return lambda **arguments: handler(tool, arguments, self.agent, self.agent.inputs)

    # -- after it ran, or did not -------------------------------------------------------------------------------------

    def result(self, call: ToolCall, end: End) -> ToolResult | Fail:
        """The result that the model reads for the end of a tool. A value without a text form is the tool's fault."""
        if isinstance(end, Raised):
            return self.fault(self.dialect.tool_raises, call, end.error, "tool")
        if isinstance(end.value, Parts):
            return ToolResult(self.answer_id(call), call.name, end.value.text, extra=call.extra, parts=end.value)
        try:
            text = self.dialect.result_text(end.value)
        except Exception as error:  # noqa: BLE001 - see above
            return self.fault(self.dialect.tool_raises, call, error, "tool")
        return ToolResult(self.answer_id(call), call.name, text, extra=call.extra)

    def fault(self, policy: Policy, call: ToolCall, error: Exception, reason: Reason) -> ToolResult | Fail:
        """The consequence of a faulty call: an error result, or the failure of the run."""
        tool = self.tools.get(call.name)
        kind = tool.kind if tool else "function"
        words = {"name": call.name, "kind": kind, "type": type(error).__name__, "message": error}
        match policy:
            case FeedBack(template):
                text = template.format(**words)
                return ToolResult(self.answer_id(call), call.name, text, failed=True, extra=call.extra)
            case Raise(error_type, template):
                raised = error_type(template.format(**words))
                raised.__cause__ = error
                return Fail(raised, reason)
            case Propagate():
                return Fail(error, reason)

    def failing(self, call: ToolCall, failure: Fail) -> ToolResult:
        """The result of a call that ended the run, for the runs that go on with the conversation."""
        text = f"Error: tool {call.name!r} failed: {type(failure.error).__name__}: {failure.error}"
        return ToolResult(self.answer_id(call), call.name, text, failed=True, extra=call.extra)

    def unanswered(self, call: ToolCall, *, begun: bool = False) -> ToolResult:
        """The result of a call that has none when the run ends, and of such a call in the caller's messages."""
        what = "was cancelled while it ran, and may have taken effect" if begun else "was not run"
        text = f"Error: tool {call.name!r} {what}."
        return ToolResult(self.answer_id(call), call.name, text, failed=True, extra=call.extra)

    def answer_id(self, call: ToolCall) -> str:
        """The id of a result: ids are opaque and are sent back unchanged."""
        return call.id
