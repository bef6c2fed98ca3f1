"""The provider's side of one run of a whole program, which asks more than its loop does.

Programs ask for titles and summaries, before, beside and after the loop. A request that does not offer the described
tool is beside the script: it gets one word for an answer, costs no turn, and is counted apart. So does one of another
agent of the program, with a prompt and tools of its own, unless the service has just refused: a loop may ask again with
less of both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from http.client import BAD_REQUEST
from typing import Any

from looptck.provider.http import HttpReply, HttpRequest
from looptck.provider.mock_run import BESIDE, MockRun
from looptck.provider.playing import Speaker
from looptck.values.history import Said
from looptck.values.jsontext import compact, parsed
from looptck.values.transcript import Replied, ToolBegan, ToolEnded

BESIDE_WITH_TOOLS = "a word, beside the script, although it offers tools"
"""What the transcript says of a request of another agent of the program."""
ANOTHERS = "a word, as it belongs to another task"
"""What it says of one that a process for all cases still makes for an earlier one."""


class ProgramMockRun(MockRun):
    """A mock run of a program that offers a tool of its own, or those of the kit."""

    offers: Collection[str] = ()
    """The name of the described tool, or the names under which it offers those of the kit."""
    accepts: Collection[str] = ()
    """The members of a request that its vendor's service takes."""
    ends: int | None = None
    """The number of the steps before the spare turns; None: the script has no end."""
    task = ""
    """A word of the prompt that every request of the run carries; empty where the URL tells whose a request is."""
    _first: tuple[tuple[str, ...], frozenset[str]] | None = None
    """The prompt of the system and the tools of the first request of the script."""
    look: Callable[[], None] = staticmethod(lambda: None)
    """Takes in the marks so far: those of a turn are older than the request after it."""

    def _model(self, speaker: Speaker, request: HttpRequest) -> HttpReply | None:
        self.look()
        body = parsed(request.body)
        if isinstance(body, dict) and self.accepts:
            kept = {name: value for name, value in body.items() if name not in self.accepts}
            if len(kept) < len(body):
                request, body = replace(request, body=compact(kept)), kept
        if isinstance(body, dict) and (how := self._how_beside(body)):
            return self._beside_the_script(speaker, request, body, how)
        return super()._model(speaker, request)

    def _how_beside(self, body: dict[str, Any]) -> str:
        """How a request is beside the script; empty if it belongs to it.

        Without the described tool it is beside, and so it is with another prompt of the system and other tools than the
        first request of the script: that is another agent of the program, at work on the same conversation. After an
        error it is taken for the loop's, which asks again in another form.
        """
        if self.task not in compact(body).decode():
            return ANOTHERS
        read = self.service.read(body)
        tools = frozenset(one.name for one in read.tools)
        if self.offers and tools.isdisjoint(self.offers):
            return BESIDE
        system = tuple(one.text for one in read.items if isinstance(one, Said) and one.role in {"system", "developer"})
        if self._first is None:
            self._first = system, tools
        is_another = system != self._first[0] and tools != self._first[1]
        return BESIDE_WITH_TOOLS if is_another and not self._has_refused else ""

    @property
    def _has_refused(self) -> bool:
        """Whether the latest reply was an HTTP error."""
        latest = next((event for event in reversed(self.transcript.events) if isinstance(event, Replied)), None)
        return latest is not None and latest.status >= BAD_REQUEST

    @property
    def has_asked_again(self) -> bool:
        """Whether the program has asked for more than the script has."""
        return self.ends is not None and max(self.turns, default=0) > self.ends

    def marked(self, tool: str, arguments: Any) -> float:
        """The described tool has left the mark of a call of this tool; returns when."""
        self.tool_runs += 1
        at = self.transcript.now()
        self._note(ToolBegan(at, self.tool_runs, tool, arguments))
        self._note(ToolEnded(at, self.tool_runs, {"value": None}, tool))
        return at
