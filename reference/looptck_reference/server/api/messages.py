"""Anthropic Messages: replies to clients."""

from __future__ import annotations

from looptck_reference.server.api.frames import Frames, named
from looptck_reference.server.api.words import MESSAGES_STOPS, agentic_members, anthropic_error
from looptck_reference.server.errors import Refused
from looptck_reference.server.values import Answer, arguments_of
from looptck_reference.vocabulary.values import Json, ToolCall

__all__ = ["MessagesFrames", "message"]


def message(answer: Answer) -> Json:
    """The plain response."""
    text = [{"type": "text", "text": answer.text}] if answer.text else []
    calls = [_tool_use(call, _input(call)) for call in answer.calls]
    body = {**_head(answer.run_id, answer.model), "content": [*text, *calls]}
    body |= {"stop_reason": MESSAGES_STOPS[answer.stop], "stop_sequence": None, "usage": _usage(answer)}
    return {**body, **agentic_members(answer)}


class MessagesFrames(Frames):
    """Named events; agentic events may come between any two of them.

    The text of a run is one block, as it is in the plain response.
    """

    def __init__(self, run_id: str, model: str, created: int) -> None:
        super().__init__(run_id, model, created)
        self._blocks = 0
        self._open = False

    def start(self) -> list[bytes]:
        """The message, still empty."""
        body = {**_head(self.run_id, self.model), "content": [], "stop_reason": None, "stop_sequence": None}
        body["usage"] = {"input_tokens": 0, "output_tokens": 0}
        return [self._event("message_start", message=body)]

    def text(self, piece: str) -> list[bytes]:
        """A delta of the text block."""
        opening = [] if self._open else self._begin({"type": "text", "text": ""})
        self._open = True
        return [*opening, self._delta({"type": "text_delta", "text": piece})]

    def calls(self, calls: tuple[ToolCall, ...]) -> list[bytes]:
        """One block for each call."""
        frames = self._close()
        for call in calls:
            text = call.arguments if _input(call) else "{}"
            frames += self._begin(_tool_use(call, {}))
            frames += [self._delta({"type": "input_json_delta", "partial_json": text})]
            self._open = True
            frames += self._close()
        return frames

    def end(self, answer: Answer) -> list[bytes]:
        """Stop reason and usage, then the end of the message."""
        delta = {"stop_reason": MESSAGES_STOPS[answer.stop], "stop_sequence": None}
        more: Json = {} if answer.session_id is None else {"session_id": answer.session_id}
        last = self._event("message_delta", delta=delta, usage=_usage(answer), **more)
        return [*self._close(), last, self._event("message_stop")]

    def failed(self, error: Refused) -> list[bytes]:
        """The error, which ends the stream."""
        return [named("error", anthropic_error(error))]

    def _begin(self, block: Json) -> list[bytes]:
        return [self._event("content_block_start", index=self._blocks, content_block=block)]

    def _delta(self, delta: Json) -> bytes:
        return self._event("content_block_delta", index=self._blocks, delta=delta)

    def _close(self) -> list[bytes]:
        if not self._open:
            return []
        self._open = False
        self._blocks += 1
        return [self._event("content_block_stop", index=self._blocks - 1)]

    def _event(self, name: str, /, **members: object) -> bytes:
        return named(name, {"type": name, **members})


def _head(run_id: str, model: str) -> Json:
    return {"id": f"msg_{run_id}", "type": "message", "role": "assistant", "model": model}


def _input(call: ToolCall) -> Json:
    """Input is an object on this wire; a text that is not an object is kept under one name."""
    arguments = arguments_of(call)
    return arguments if isinstance(arguments, dict) else {"unparsed_arguments": arguments}


def _tool_use(call: ToolCall, arguments: Json) -> Json:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _usage(answer: Answer) -> Json:
    usage = answer.usage or {}
    return {"input_tokens": usage.get("prompt_tokens", 0), "output_tokens": usage.get("completion_tokens", 0)}
