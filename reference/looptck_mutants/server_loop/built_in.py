"""The server's own tools: what becomes of their results, and what `complete` tells of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.server_loop.parts import breaks
from looptck_reference.loop.values import ToolCall
from looptck_reference.server.events import Event, Progress
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.values import Record, Result, ToolPath


class TellingLoop(ServerLoop):
    """A loop that bends the data of `complete`."""

    def events_after(self, record: Record) -> Sequence[Event]:
        return [
            replace(event, data=self.data(dict(event.data))) if isinstance(event, Progress) else event
            for event in super().events_after(record)
        ]

    def data(self, told: dict[str, Any]) -> dict[str, Any]:
        """What is told in place of this."""
        return told


@breaks("server-search-runs-in-the-server")
class SearchForNobody(ServerLoop):
    """Searches, and gives the model nothing of it."""

    def tool_ended(self, result: Result) -> Any:
        searched = self._waiting[0].path is ToolPath.WEB_SEARCH
        return super().tool_ended(replace(result, content='{"output":[]}') if searched else result)


@breaks(
    "server-code-runs-in-the-server",
    collateral={
        (
            "server-complete-of-code-tells-what-it-wrote",
            "server-complete-of-code-tells-where-and-how-long",
        ): "stdout is what the program printed"
    },
)
class OutputIsLost(ServerLoop):
    """Runs programs, and tells nobody what they print."""

    def tool_ended(self, result: Result) -> Any:
        if self._waiting[0].path is not ToolPath.CODE:
            return super().tool_ended(result)
        return super().tool_ended(replace(result, content="", data={**result.data, "stdout": ""}))


@breaks("server-callback-runs-in-the-server")
class CallbacksAreDispatched(ServerLoop):
    """Posts the calls of its callbacks to the dispatch URL."""

    def path_of(self, call: ToolCall) -> ToolPath | None:
        path = super().path_of(call)
        return ToolPath.DISPATCH if path is ToolPath.CALLBACK else path


@breaks("server-complete-of-code-tells-the-code", cells=CHAT_STREAM)
class CompleteWithoutTheCode(TellingLoop):
    """Tells in `complete` no code."""

    def data(self, told: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in told.items() if name != "code"}


@breaks("server-complete-of-code-tells-what-it-wrote", cells=CHAT_STREAM)
class CompleteWithoutTheException(TellingLoop):
    """Tells in `complete` no exception."""

    def data(self, told: dict[str, Any]) -> dict[str, Any]:
        return {**told, "exception": ""} if "exception" in told else told


@breaks(
    "server-complete-of-code-tells-what-it-wrote",
    collateral={"server-complete-of-code-tells-where-and-how-long": "the directory was printed to stdout"},
    cells=CHAT_STREAM,
)
class OutputsAreSwapped(TellingLoop):
    """Tells as stderr what is stdout."""

    def data(self, told: dict[str, Any]) -> dict[str, Any]:
        if "stdout" not in told:
            return told
        return {**told, "stdout": told["stderr"], "stderr": told["stdout"]}


@breaks(
    "server-complete-of-code-tells-where-and-how-long",
    collateral={"server-events-fit-their-schemas": "a text is no number"},
    cells=CHAT_STREAM,
)
class SecondsForMilliseconds(TellingLoop):
    """Tells in `complete` the time as a text."""

    def data(self, told: dict[str, Any]) -> dict[str, Any]:
        took = told.get("execution_time_ms")
        return told if took is None else {**told, "execution_time_ms": f"{took / 1000} s"}


@breaks("server-complete-of-code-tells-where-and-how-long", cells=CHAT_STREAM)
class CompleteOfAnotherDirectory(TellingLoop):
    """Tells in `complete` the directory above."""

    def data(self, told: dict[str, Any]) -> dict[str, Any]:
        where = told.get("working_directory")
        return told if where is None else {**told, "working_directory": where.rpartition("/")[0]}


@breaks("server-complete-of-search-tells-query-and-count", cells=CHAT_STREAM)
class CompleteWithoutTheQuery(TellingLoop):
    """Tells in `complete` no query."""

    def data(self, told: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in told.items() if name != "query"}


@breaks("server-complete-of-search-tells-query-and-count", cells=CHAT_STREAM)
class CountsNoResults(TellingLoop):
    """Tells of every search that it found nothing."""

    def data(self, told: dict[str, Any]) -> dict[str, Any]:
        return {**told, "results_count": 0} if "results_count" in told else told
