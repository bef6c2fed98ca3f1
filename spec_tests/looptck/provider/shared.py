"""The one address under which a server finds its model and its tools, whichever run a request belongs to.

A server is started once and told one base URL and one dispatch URL. So what it sends is sorted to the runs that are
open: a question to the model by the last message of the user, a tool call by the tool's name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from looptck.jsontext import parsed
from looptck.provider.http import HttpReply, HttpRequest
from looptck.provider.stage import Stage

PREFIX = "/server"
MODEL = f"{PREFIX}/v1"
DISPATCH = f"{PREFIX}/dispatch"
ELSEWHERE = f"{PREFIX}/elsewhere"
"""Where no server has been told to send anything."""


@dataclass(slots=True)
class Shared:
    """The open runs of a server's clients."""

    guests: list[tuple[Stage, str, Sequence[str]]] = field(default_factory=list)
    """Each run's stage, its last user message, and the names of its tools."""

    def answer(self, request: HttpRequest) -> HttpReply | None:
        """Let the run answer that the request belongs to; of a request that belongs to none, every run hears."""
        body = parsed(request.body)
        stage = self._dispatched(body) if request.path.partition("?")[0] == DISPATCH else self._asked(body)
        if stage is not None:
            return stage.answer(replace(request, path=stage.prefix + request.path.removeprefix(PREFIX)))
        for one, _, _ in list(self.guests):
            one.stray(request.method, f"{request.path}, which belongs to none of the runs that are open")
        return None

    def _asked(self, body: Any) -> Stage | None:
        """By the question, or the last of these stages where two ask the same; the only run gets whatever comes."""
        question = _question(body)
        found = [stage for stage, wanted, _ in self.guests if wanted and wanted in question]
        return found[-1] if found else self._only()

    def _dispatched(self, body: Any) -> Stage | None:
        name = body.get("name") if isinstance(body, dict) else None
        found = [stage for stage, _, names in self.guests if name in names]
        return found[-1] if found else self._only()

    def _only(self) -> Stage | None:
        return self.guests[0][0] if len(self.guests) == 1 else None


def _question(body: Any) -> str:
    """The last message of the user, as text; that of parts is joined."""
    messages = body.get("messages") if isinstance(body, dict) else None
    asked = [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []
    content = next((one.get("content") for one in reversed(asked) if one.get("role") == "user"), "")
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))
