"""The server's own tools: what becomes of their results, and what `complete` tells of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from looptck_reference.mutants.mutant import CHAT_STREAM, because
from looptck_reference.mutants.server_loop.mutant import ServerMutant
from looptck_reference.server.events import Event, Progress
from looptck_reference.server.loop import AgentLoop
from looptck_reference.server.serving import Simulator
from looptck_reference.server.values import Record, Result, ToolPath
from looptck_reference.values import ToolCall


class TellingLoop(AgentLoop):
    """A loop that bends the data of `complete`."""

    def told_after(self, record: Record) -> Sequence[Event]:
        return [
            replace(event, data=self.data(dict(event.data))) if isinstance(event, Progress) else event
            for event in super().told_after(record)
        ]

    def data(self, told: dict[str, Any]) -> dict[str, Any]:
        """What is told in place of this."""
        return told


class SearchForNobody(ServerMutant):
    """Searches, and gives the model nothing of it: `server-search-runs-in-the-server`."""

    breaks = ("server-search-runs-in-the-server",)

    class simulator(Simulator):  # noqa: N801  the bench's attribute
        class loop(AgentLoop):  # noqa: N801  the simulator's attribute
            def tool_ended(self, result: Result) -> Any:
                searched = self._waiting[0].path is ToolPath.WEB_SEARCH
                return super().tool_ended(replace(result, content='{"output":[]}') if searched else result)


class OutputIsLost(ServerMutant):
    """Runs programs, and tells nobody what they print: `server-code-runs-in-the-server`."""

    breaks = ("server-code-runs-in-the-server",)
    also = because(
        "stdout is what the program printed",
        "server-complete-of-code-tells-what-it-wrote",
        "server-complete-of-code-tells-where-and-how-long",
    )

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def tool_ended(self, result: Result) -> Any:
                if self._waiting[0].path is not ToolPath.CODE:
                    return super().tool_ended(result)
                return super().tool_ended(replace(result, content="", data={**result.data, "stdout": ""}))


class CallbacksAreDispatched(ServerMutant):
    """Posts the calls of its callbacks to the dispatch URL: `server-callback-runs-in-the-server`."""

    breaks = ("server-callback-runs-in-the-server",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def path_of(self, call: ToolCall) -> ToolPath | None:
                path = super().path_of(call)
                return ToolPath.DISPATCH if path is ToolPath.CALLBACK else path


class CompleteWithoutTheCode(ServerMutant):
    """Tells in `complete` no code: `server-complete-of-code-tells-the-code`."""

    breaks = ("server-complete-of-code-tells-the-code",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(TellingLoop):  # noqa: N801
            def data(self, told: dict[str, Any]) -> dict[str, Any]:
                return {name: value for name, value in told.items() if name != "code"}


class CompleteWithoutTheException(ServerMutant):
    """Tells in `complete` no exception: `server-complete-of-code-tells-what-it-wrote`."""

    breaks = ("server-complete-of-code-tells-what-it-wrote",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(TellingLoop):  # noqa: N801
            def data(self, told: dict[str, Any]) -> dict[str, Any]:
                return {**told, "exception": ""} if "exception" in told else told


class OutputsAreSwapped(ServerMutant):
    """Tells as stderr what is stdout: `server-complete-of-code-tells-what-it-wrote`."""

    breaks = ("server-complete-of-code-tells-what-it-wrote",)
    also = because("the directory was printed to stdout", "server-complete-of-code-tells-where-and-how-long")
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(TellingLoop):  # noqa: N801
            def data(self, told: dict[str, Any]) -> dict[str, Any]:
                if "stdout" not in told:
                    return told
                return {**told, "stdout": told["stderr"], "stderr": told["stdout"]}


class SecondsForMilliseconds(ServerMutant):
    """Tells in `complete` the time as a text: `server-complete-of-code-tells-where-and-how-long`."""

    breaks = ("server-complete-of-code-tells-where-and-how-long",)
    also = because("a text is no number", "server-events-fit-their-schemas")
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(TellingLoop):  # noqa: N801
            def data(self, told: dict[str, Any]) -> dict[str, Any]:
                took = told.get("execution_time_ms")
                return told if took is None else {**told, "execution_time_ms": f"{took / 1000} s"}


class CompleteOfAnotherDirectory(ServerMutant):
    """Tells in `complete` the directory above: `server-complete-of-code-tells-where-and-how-long`."""

    breaks = ("server-complete-of-code-tells-where-and-how-long",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(TellingLoop):  # noqa: N801
            def data(self, told: dict[str, Any]) -> dict[str, Any]:
                where = told.get("working_directory")
                return told if where is None else {**told, "working_directory": where.rpartition("/")[0]}


class CompleteWithoutTheQuery(ServerMutant):
    """Tells in `complete` no query: `server-complete-of-search-tells-query-and-count`."""

    breaks = ("server-complete-of-search-tells-query-and-count",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(TellingLoop):  # noqa: N801
            def data(self, told: dict[str, Any]) -> dict[str, Any]:
                return {name: value for name, value in told.items() if name != "query"}


class CountsNoResults(ServerMutant):
    """Tells of every search that it found nothing: `server-complete-of-search-tells-query-and-count`."""

    breaks = ("server-complete-of-search-tells-query-and-count",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(TellingLoop):  # noqa: N801
            def data(self, told: dict[str, Any]) -> dict[str, Any]:
                return {**told, "results_count": 0} if "results_count" in told else told
