"""Parts of a turn on which the loop must not act: blocks of the service's own tools, and unknown blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from looptck_mutants.cells import MESSAGES, MESSAGES_STREAM, RESPONSES
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.approval import Decision
from looptck_reference.vocabulary.values import Json, ToolCall, Turn
from looptck_reference.wires import MessagesStream, MessagesWire, ResponsesWire


@breaks("hosted-tools-are-never-dispatched", cells=RESPONSES)
class HostedDispatched(Loop):
    """Runs a search that the service has already run."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        searches = [piece for piece in turn.content if piece["type"] == "web_search_call"]
        return [*turn.calls, *(ToolCall(search["id"], "web_search", "{}") for search in searches)]


@breaks("hosted-tools-are-echoed", cells=MESSAGES_STREAM)
class CitationsDropped(MessagesStream):
    """Drops the citations of a streamed text."""

    def take(self, event: Json) -> str:
        delta = event.get("delta")
        cites = isinstance(delta, dict) and delta.get("type") == "citations_delta"
        return "" if cites else super().take(event)


@breaks("unknown-pieces-are-echoed", cells=MESSAGES)
class UnknownDropped(MessagesWire):
    """Drops blocks of unknown types."""

    def echo(self, turn: Turn) -> list[Json]:
        known = tuple(block for block in turn.content if not block["type"].startswith("x_"))
        return super().echo(replace(turn, content=known))


@breaks("hosted-kinds-are-echoed", cells=MESSAGES)
class SearchesOnly(MessagesWire):
    """Drops what the service's tools leave behind, but for searches and MCP servers."""

    def echo(self, turn: Turn) -> list[Json]:
        others = ("bash_", "web_fetch_", "tool_search_")
        known = tuple(block for block in turn.content if not block["type"].startswith(others))
        return super().echo(replace(turn, content=known))


@breaks("hosted-kinds-are-echoed", cells=RESPONSES)
class NamelessDropped(ResponsesWire):
    """Drops items whose call id is null: the service's own searches among the tools."""

    def echo(self, turn: Turn) -> list[Json]:
        named = tuple(item for item in turn.content if item.get("call_id", "") is not None)
        return super().echo(replace(turn, content=named))


@breaks("hosted-kinds-are-echoed", cells=RESPONSES)
class QueriesOnly(ResponsesWire):
    """Sends back of the service's tools only searches with a query, and MCP servers."""

    def echo(self, turn: Turn) -> list[Json]:
        others = ("code_interpreter_call", "file_search_call", "mcp_list_tools")
        kept = [item for item in turn.content if item["type"] not in others]
        known = tuple(item for item in kept if item.get("action", {}).get("type", "search") == "search")
        return super().echo(replace(turn, content=known))


@breaks("hosted-kinds-are-echoed", cells=RESPONSES)
class OnlyWhatWorkedIsKept(ResponsesWire):
    """Drops items of the service's tools that have failed."""

    def echo(self, turn: Turn) -> list[Json]:
        worked = tuple(item for item in turn.content if item.get("status") != "failed")
        return super().echo(replace(turn, content=worked))


@breaks("hosted-kinds-are-echoed", cells=MESSAGES)
class ResultsAreLists(MessagesWire):
    """Drops a result of the service's that is no list: the error of a search."""

    def echo(self, turn: Turn) -> list[Json]:
        known = tuple(
            block
            for block in turn.content
            if block["type"] != "web_search_tool_result" or isinstance(block["content"], list)
        )
        return super().echo(replace(turn, content=known))


@breaks("container-goes-on", cells=MESSAGES_STREAM)
class ContainerOfTheStart(MessagesStream):
    """Looks for the container only where a streamed message starts."""

    def turn(self) -> Turn:
        return replace(super().turn(), carried={})


@breaks("container-goes-on", cells=MESSAGES)
class ContainerIsNotInTheState(Loop):
    """Forgets the container of a run that it resumes."""

    def resume(self, state: Json, decisions: Mapping[str, Decision]) -> None:
        super().resume(state, decisions)
        self.carried = {}


@breaks("hosted-tools-are-offered-every-time", cells=RESPONSES)
class HostedIsOfferedOnce(ResponsesWire):
    """Offers the service's tools until a call of the loop's has its result."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        later = any(item.get("type") == "function_call_output" for item in history)
        return super().request(replace(agent, search=False, hosted=()) if later else agent, history, stream=stream)


@breaks("tools-are-offered-every-time", cells=RESPONSES)
class HostedAlone(ResponsesWire):
    """Offers no tool of the loop's where it offers one of the service."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        hosted = [tool for tool in body.get("tools", []) if tool["type"] != "function"]
        return {**body, "tools": hosted} if hosted else body


@breaks("paused-turn-is-resumed", cells=MESSAGES)
class PausesTakeTheSearch(MessagesWire):
    """Offers no search where a turn goes on that the service has paused in one."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        paused = history[-1]["role"] == "assistant"
        return super().request(replace(agent, search=False) if paused else agent, history, stream=stream)
