"""OpenAI Chat Completions: replies to clients."""

from __future__ import annotations

from collections.abc import Sequence

from looptck_reference.server.api.frames import Frames, data
from looptck_reference.server.api.words import CHAT_STOPS, agentic_members, openai_error
from looptck_reference.server.errors import Refused
from looptck_reference.server.values import Answer
from looptck_reference.vocabulary.values import Json, ToolCall

__all__ = ["ChatFrames", "completion"]

DONE = b"data: [DONE]\n\n"


def completion(answer: Answer) -> Json:
    """The plain response."""
    message: Json = {"role": "assistant", "content": answer.text or (None if answer.calls else "")}
    if answer.calls:
        message["tool_calls"] = _calls(answer.calls)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": CHAT_STOPS[answer.stop]}
    head = {"id": f"chatcmpl-{answer.run_id}", "object": "chat.completion"}
    body: Json = {**head, "created": answer.created, "model": answer.model, "choices": [choice]}
    if answer.usage is not None:
        body["usage"] = answer.usage
    return {**body, **agentic_members(answer)}


class ChatFrames(Frames):
    """Chunks without names, agentic events with names, and `[DONE]`.

    The last chunk has the finish reason, all calls, each whole, the usage and the session's id.
    """

    def __init__(self, run_id: str, model: str, created: int) -> None:
        super().__init__(run_id, model, created)
        self._delta: Json = {}

    def start(self) -> list[bytes]:
        """The role."""
        return [self._chunk({"role": "assistant", "content": ""})]

    def text(self, piece: str) -> list[bytes]:
        """A chunk."""
        return [self._chunk({"content": piece})]

    def calls(self, calls: tuple[ToolCall, ...]) -> list[bytes]:
        """Keep the calls for the last chunk."""
        self._delta = {"tool_calls": [{"index": at, **call} for at, call in enumerate(_calls(calls))]}
        return []

    def end(self, answer: Answer) -> list[bytes]:
        """The finish reason, then the end mark."""
        more: Json = {} if answer.usage is None else {"usage": answer.usage}
        if answer.session_id is not None:
            more["session_id"] = answer.session_id
        return [self._chunk(self._delta, CHAT_STOPS[answer.stop], **more), DONE]

    def failed(self, error: Refused) -> list[bytes]:
        """The error, then the end mark."""
        return [data(openai_error(error)), DONE]

    def _chunk(self, delta: Json, finish_reason: str | None = None, **more: object) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        head = {"id": f"chatcmpl-{self.run_id}", "object": "chat.completion.chunk"}
        return data({**head, "created": self.created, "model": self.model, "choices": [choice], **more})


def _calls(calls: Sequence[ToolCall]) -> list[Json]:
    return [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in calls
    ]
