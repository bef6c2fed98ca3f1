"""The server's own tools: the use of their results, and the data of `complete`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.errors import Refused
from looptck_reference.server.events import Event, Progress
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.steps import Fail
from looptck_reference.server.values import Record, Result, ToolPath
from looptck_reference.vocabulary.values import ToolCall


class ReportingLoop(ServerLoop):
    """A loop that changes the data of `complete`."""

    def events_after(self, record: Record) -> Sequence[Event]:
        return [
            replace(event, data=self.data(dict(event.data))) if isinstance(event, Progress) else event
            for event in super().events_after(record)
        ]

    def data(self, original: dict[str, Any]) -> dict[str, Any]:
        """The data to send instead of the original."""
        return original


@breaks("server-search-runs-in-the-server")
class SearchForNobody(ServerLoop):
    """Runs a search, but sends the model an empty result."""

    def tool_ended(self, result: Result) -> Any:
        searched = self._waiting[0].path is ToolPath.WEB_SEARCH
        return super().tool_ended(replace(result, content='{"output":[]}') if searched else result)


@breaks(
    "server-search-runs-in-the-server",
    collateral={"server-complete-of-search-tells-query-and-count": "a search that finds nothing has no complete event"},
)
class NothingFoundIsAnError(ServerLoop):
    """Ends a run with an error if a search finds nothing."""

    def tool_ended(self, result: Result) -> Any:
        searched = self._waiting[0].path is ToolPath.WEB_SEARCH
        nothing = searched and not result.data.get("results_count")
        return Fail(Refused(422, "nothing was found")) if nothing else super().tool_ended(result)


@breaks(
    "server-failing-tool-is-fed-back",
    collateral={"server-complete-of-code-tells-what-it-wrote": "a program that raises has no complete event"},
)
class ExceptionsEndTheRun(ServerLoop):
    """Ends a run with an error if a program raises an exception."""

    def tool_ended(self, result: Result) -> Any:
        raised = self._waiting[0].path is ToolPath.CODE and result.data.get("exception")
        return Fail(Refused(422, "oops")) if raised else super().tool_ended(result)


@breaks(
    "server-code-runs-in-the-server",
    collateral={
        (
            "server-complete-of-code-tells-what-it-wrote",
            "server-complete-of-code-tells-where-and-how-long",
        ): "stdout has the printed text"
    },
)
class OutputIsLost(ServerLoop):
    """Runs programs, but drops their output."""

    def tool_ended(self, result: Result) -> Any:
        if self._waiting[0].path is not ToolPath.CODE:
            return super().tool_ended(result)
        return super().tool_ended(replace(result, content="", data={**result.data, "stdout": ""}))


@breaks("server-output-of-code-reaches-the-model")
class ExceptionsAreForTheClient(ServerLoop):
    """Sends the exception of a program to the client, but not to the model."""

    def tool_ended(self, result: Result) -> Any:
        if self._waiting[0].path is not ToolPath.CODE:
            return super().tool_ended(result)
        return super().tool_ended(replace(result, content=result.content.partition("stderr: ")[0]))


@breaks("server-callback-runs-in-the-server")
class CallbacksAreDispatched(ServerLoop):
    """Posts the calls of its callbacks to the dispatch URL."""

    def path_of(self, call: ToolCall) -> ToolPath | None:
        path = super().path_of(call)
        return ToolPath.DISPATCH if path is ToolPath.CALLBACK else path


@breaks("server-callback-runs-in-the-server")
class CallbacksAreCached(ServerLoop):
    """Answers each call of a callback with the result of the first one."""

    first: Result | None = None

    def tool_ended(self, result: Result) -> Any:
        if self._waiting[0].path is not ToolPath.CALLBACK:
            return super().tool_ended(result)
        self.first = self.first or result
        return super().tool_ended(self.first)


@breaks("server-complete-of-code-tells-the-code", cells=CHAT_STREAM)
class CompleteWithTheCodeOnOneLine(ReportingLoop):
    """Removes the line breaks of the code in `complete`."""

    def data(self, original: dict[str, Any]) -> dict[str, Any]:
        return {**original, "code": original["code"].replace("\n", " ")} if "code" in original else original


@breaks("server-complete-of-code-tells-what-it-wrote", cells=CHAT_STREAM)
class CompleteWithoutTheException(ReportingLoop):
    """Omits the exception from `complete`."""

    def data(self, original: dict[str, Any]) -> dict[str, Any]:
        return {**original, "exception": ""} if "exception" in original else original


@breaks(
    "server-complete-of-code-tells-what-it-wrote",
    collateral={"server-complete-of-code-tells-where-and-how-long": "the check reads the directory from stdout"},
    cells=CHAT_STREAM,
)
class OutputsAreSwapped(ReportingLoop):
    """Swaps stdout and stderr in `complete`."""

    def data(self, original: dict[str, Any]) -> dict[str, Any]:
        if "stdout" not in original:
            return original
        return {**original, "stdout": original["stderr"], "stderr": original["stdout"]}


@breaks(
    "server-complete-of-code-tells-where-and-how-long",
    collateral={"server-events-fit-their-schemas": "a string is not a number"},
    cells=CHAT_STREAM,
)
class SecondsForMilliseconds(ReportingLoop):
    """Sends the time in `complete` as a string in seconds."""

    def data(self, original: dict[str, Any]) -> dict[str, Any]:
        took = original.get("execution_time_ms")
        return original if took is None else {**original, "execution_time_ms": f"{took / 1000} s"}


@breaks("server-complete-of-code-tells-where-and-how-long", cells=CHAT_STREAM)
class CountsSeconds(ReportingLoop):
    """Sends the time in `complete` as a number of seconds."""

    def data(self, original: dict[str, Any]) -> dict[str, Any]:
        took = original.get("execution_time_ms")
        return original if took is None else {**original, "execution_time_ms": took / 1000}


@breaks("server-complete-of-code-tells-where-and-how-long", cells=CHAT_STREAM)
class CompleteOfAnotherDirectory(ReportingLoop):
    """Sends the parent directory as the working directory in `complete`."""

    def data(self, original: dict[str, Any]) -> dict[str, Any]:
        where = original.get("working_directory")
        return original if where is None else {**original, "working_directory": where.rpartition("/")[0]}


@breaks("server-complete-of-search-tells-query-and-count", cells=CHAT_STREAM)
class CompleteWithTheQueryInCapitals(ReportingLoop):
    """Repeats the query in capitals in `complete`."""

    def data(self, original: dict[str, Any]) -> dict[str, Any]:
        return {**original, "query": original["query"].upper()} if "query" in original else original


@breaks("server-complete-of-search-tells-query-and-count", cells=CHAT_STREAM)
class CountsNoResults(ReportingLoop):
    """Reports zero results for every search."""

    def data(self, original: dict[str, Any]) -> dict[str, Any]:
        return {**original, "results_count": 0} if "results_count" in original else original


@breaks("server-complete-of-search-tells-query-and-count", cells=CHAT_STREAM)
class CountsOneResultAtLeast(ReportingLoop):
    """Reports one result for a search without results."""

    def data(self, original: dict[str, Any]) -> dict[str, Any]:
        return (
            {**original, "results_count": original["results_count"] or 1} if "results_count" in original else original
        )
