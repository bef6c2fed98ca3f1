"""The address at which a server finds its model and its tools, shared by all runs.

A server is started once, with one base URL and one dispatch URL. So its requests are assigned to the open runs: a model
request by the last user message that is the question of one, a tool call by the name of the tool, which a model has
called or which a run offers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from looptck.provider.http import HttpReply, HttpRequest
from looptck.provider.mock_run import MockRun
from looptck.values.jsontext import parsed

PREFIX = "/server"
MODEL = f"{PREFIX}/v1"
DISPATCH = f"{PREFIX}/dispatch"
ELSEWHERE = f"{PREFIX}/elsewhere"
"""A path that is passed to no server."""


@dataclass(slots=True)
class Shared:
    """The open runs of a server's clients."""

    open_runs: list[tuple[MockRun, str, Sequence[str]]] = field(default_factory=list)
    """Each open run: its `MockRun`, its last user message, and the names of its tools."""

    def answer(self, request: HttpRequest) -> HttpReply | None:
        """Answer a request with the run that it belongs to; one without a run is recorded in every open run."""
        body = parsed(request.body)
        mock_run = self._dispatched(body) if request.path.partition("?")[0] == DISPATCH else self._asked(body)
        if mock_run is not None:
            return mock_run.answer(replace(request, path=mock_run.prefix + request.path.removeprefix(PREFIX)))
        for one, _, _ in list(self.open_runs):
            one.note_unrouted(request.method, f"{request.path}, which belongs to no open run")
        return None

    def _asked(self, body: Any) -> MockRun | None:
        """The run whose question the user has asked last, the latest if several ask the same.

        A server may add a message of the user of its own behind it. A single open run gets every request.
        """
        for said in _said(body):
            if found := [mock_run for mock_run, wanted, _ in self.open_runs if wanted and wanted in said]:
                return found[-1]
        return self._only()

    def _dispatched(self, body: Any) -> MockRun | None:
        """The run whose model has called a tool of this name, or else one that has it, the latest if several do."""
        name = body.get("name") if isinstance(body, dict) else None
        called = [mock_run for mock_run, _, _ in self.open_runs if _calls(mock_run, name)]
        found = called or [mock_run for mock_run, _, names in self.open_runs if name in names]
        return found[-1] if found else self._only()

    def _only(self) -> MockRun | None:
        return self.open_runs[0][0] if len(self.open_runs) == 1 else None


def _calls(mock_run: MockRun, tool: object) -> bool:
    return any(call.tool == tool for turn in mock_run.turns.values() for call in turn.calls)


def _said(body: Any) -> Iterator[str]:
    """The user messages as texts, the last one first; the parts of each are joined."""
    messages = body.get("messages") if isinstance(body, dict) else None
    for one in reversed(messages if isinstance(messages, list) else []):
        if isinstance(one, dict) and one.get("role") == "user":
            content = one.get("content")
            parts = content if isinstance(content, list) else [{"text": content}]
            texts = [part.get("text") for part in parts if isinstance(part, dict)]
            yield "".join(text for text in texts if isinstance(text, str))
