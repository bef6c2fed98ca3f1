"""Requests of clients to servers: a provider-neutral value, and its body on each wire."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from looptck.bench.client.words import MESSAGES, TOOLS
from looptck.catalogue.agents import Tool
from looptck.values.framing import MODEL
from looptck.values.frozen import dataclass
from looptck.values.history import Item, Said

MOST_TOKENS = 4096
PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic-messages": "/v1/messages",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request. Members that are None or empty are omitted from its body."""

    question: str
    """The last user message; it identifies the run in the server's model requests."""
    before: Sequence[Item] = ()
    """The conversation before the question, as the client has it."""
    after: Sequence[Item] = ()
    """Calls and their results after the question, of a client that runs the tools itself."""
    tools: Sequence[Tool] = ()
    session: str | None = None
    rounds: int | None = None
    """max_tool_rounds."""
    permission: str | None = None
    """agent_permission: auto, ask or deny."""
    choice: Any = None
    """tool_choice, as the wire has it."""
    members: Mapping[str, Any] = field(default_factory=dict)
    """Further members of the body; they replace those above."""
    chunked: bool = False
    """Whether the body is sent in chunks, without a content-length."""
    on_event: Callable[[Any], object] | None = None
    """Called with each `ServerEvent` on the client's own thread; the client leaves if this returns True."""

    def body(self, wire: str, *, stream: bool) -> dict[str, Any]:
        """The JSON body on a wire."""
        items = (*self.before, Said("user", self.question), *self.after)
        body: dict[str, Any] = {"model": MODEL, **MESSAGES[wire](items)}
        if wire == "anthropic-messages":
            body["max_tokens"] = MOST_TOKENS
        if self.tools:
            body["tools"] = [TOOLS[wire](tool) for tool in self.tools]
        extras = {
            "tool_choice": self.choice,
            "session_id": self.session,
            "max_tool_rounds": self.rounds,
            "agent_permission": self.permission,
        }
        body |= {name: value for name, value in extras.items() if value is not None}
        if stream:
            body["stream"] = True
        return {**body, **self.members}
