"""OpenAI Responses: the event stream to clients."""

from __future__ import annotations

from looptck_reference.server.api.frames import Frames, named
from looptck_reference.server.api.responses import call_item, message_item, response, shell_of, text_part
from looptck_reference.server.errors import Refused
from looptck_reference.server.values import Answer
from looptck_reference.vocabulary.values import Json, Stop, ToolCall

__all__ = ["ResponsesFrames"]


class ResponsesFrames(Frames):
    """Named and numbered events; agentic events between them have no number.

    Exactly one of completed, incomplete and failed ends the stream.
    """

    def __init__(self, run_id: str, model: str, created: int) -> None:
        super().__init__(run_id, model, created)
        self._number = 0
        self._items = 0
        self._text: list[str] | None = None

    def start(self) -> list[bytes]:
        """The response, still empty."""
        body = shell_of(self.run_id, self.model, self.created, "in_progress")
        return [self._event("response.created", response=body), self._event("response.in_progress", response=body)]

    def text(self, piece: str) -> list[bytes]:
        """A delta of the message."""
        opening = self._begin_text() if self._text is None else []
        assert self._text is not None
        self._text.append(piece)
        return [*opening, self._event("response.output_text.delta", **self._part(), delta=piece, logprobs=[])]

    def calls(self, calls: tuple[ToolCall, ...]) -> list[bytes]:
        """One item for each call, with its arguments in one piece."""
        frames = self._close_text()
        for at, call in enumerate(calls):
            item = call_item(self.run_id, at, call, "completed")
            place = {"item_id": item["id"], "output_index": self._items}
            whole = {"arguments": call.arguments, "name": call.name}
            frames += [
                self._added(call_item(self.run_id, at, call, "in_progress")),
                self._event("response.function_call_arguments.delta", **place, delta=call.arguments),
                self._event("response.function_call_arguments.done", **place, **whole),
                self._done(item),
            ]
        return frames

    def end(self, answer: Answer) -> list[bytes]:
        """The whole response."""
        empty = [] if answer.text or answer.calls or self._text is not None else self._begin_text()
        cut = answer.stop in {Stop.LENGTH, Stop.CONTENT_FILTER}
        last = "response.incomplete" if cut else "response.completed"
        return [*empty, *self._close_text(), self._event(last, response=response(answer))]

    def failed(self, error: Refused) -> list[bytes]:
        """The response with its error."""
        body = shell_of(self.run_id, self.model, self.created, "failed")
        body["error"] = {"code": error.code or error.type, "message": error.message}
        return [self._event("response.failed", response=body)]

    def _begin_text(self) -> list[bytes]:
        self._text = []
        item = message_item(self.run_id, "", "in_progress")
        return [self._added(item), self._event("response.content_part.added", **self._part(), part=text_part(""))]

    def _close_text(self) -> list[bytes]:
        if self._text is None:
            return []
        text, self._text = "".join(self._text), None
        place = {"item_id": f"msg_{self.run_id}", "output_index": self._items, "content_index": 0}
        return [
            self._event("response.output_text.done", **place, text=text, logprobs=[]),
            self._event("response.content_part.done", **place, part=text_part(text)),
            self._done(message_item(self.run_id, text, "completed")),
        ]

    def _part(self) -> Json:
        return {"item_id": f"msg_{self.run_id}", "output_index": self._items, "content_index": 0}

    def _added(self, item: Json) -> bytes:
        return self._event("response.output_item.added", output_index=self._items, item=item)

    def _done(self, item: Json) -> bytes:
        self._items += 1
        return self._event("response.output_item.done", output_index=self._items - 1, item=item)

    def _event(self, name: str, /, **members: object) -> bytes:
        self._number += 1
        return named(name, {"type": name, "sequence_number": self._number - 1, **members})
