"""The provider's side of one run of a whole program, which asks more than its loop does.

Programs ask for titles and summaries, before, beside and after the loop. A request that does not offer the described
tool is beside the script: it gets one word for an answer, costs no turn, and is counted apart.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from looptck.provider.http import HttpReply, HttpRequest
from looptck.provider.mock_run import MockRun
from looptck.provider.script import Step
from looptck.values.jsontext import compact, parsed
from looptck.values.transcript import SideRequest, ToolBegan, ToolEnded
from looptck.values.turns import Turn, says

WORD, OBJECT = "Fine.", "{}"
"""The answers to a request beside the script, for text and for JSON."""
MOST_BESIDE = 60
"""The most requests beside the script that get an answer."""
_FIRST = 900_000
"""The number of the first reply beside the script: none in it has such a number."""


class ProgramMockRun(MockRun):
    """A mock run of a program that offers a tool of its own."""

    tool = ""
    """The name of the described tool."""
    accepts: Collection[str] = ()
    """The members of a request that its vendor's service takes."""
    beside = 0
    """How many requests were beside the script."""
    look: Callable[[], None] = staticmethod(lambda: None)
    """Takes in the marks so far: those of a turn are older than the request after it."""

    def _model(self, request: HttpRequest) -> HttpReply | None:
        self.look()
        body = parsed(request.body)
        if isinstance(body, dict) and self.accepts:
            kept = {name: value for name, value in body.items() if name not in self.accepts}
            if len(kept) < len(body):
                request, body = replace(request, body=compact(kept)), kept
        if isinstance(body, dict) and self.tool not in {one.name for one in self.service.read(body).tools}:
            return self._beside(request, body)
        return super()._model(request)

    def _beside(self, request: HttpRequest, body: dict[str, Any]) -> HttpReply | None:
        self.beside += 1
        if self.beside > MOST_BESIDE:
            return None
        self._note(SideRequest(self.transcript.now(), "POST", request.path, "a word, beside the script"))
        n = _FIRST + self.beside
        turn: Turn = says(OBJECT if _wants_json(body) else WORD)
        stream = body.get("stream") is True
        reply = self._streamed(n, turn, Step(turn)) if stream else self._plain(n, turn, Step(turn))
        self.streams.pop(n, None)
        return reply

    def marked(self, tool: str, arguments: Any) -> float:
        """The described tool has left the mark of a call of this tool; returns when."""
        self.tool_runs += 1
        at = self.transcript.now()
        self._note(ToolBegan(at, self.tool_runs, tool, arguments))
        self._note(ToolEnded(at, self.tool_runs, {"value": None}, tool))
        return at


def _wants_json(body: dict[str, Any]) -> bool:
    """Whether a request asks for an answer in JSON."""
    text = body.get("text")
    format = body.get("response_format") or (text.get("format") if isinstance(text, dict) else None)
    return isinstance(format, dict) and str(format.get("type", "")).startswith("json")
