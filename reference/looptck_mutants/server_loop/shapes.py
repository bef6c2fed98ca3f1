"""Members of replies and chunks in a wrong form."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from looptck_mutants.cells import CHAT_STREAM, MESSAGES_STREAM, RESPONSES_STREAM
from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.api.chat import ChatFrames
from looptck_reference.server.api.messages import MessagesFrames
from looptck_reference.server.api.responses_stream import ResponsesFrames
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.steps import Finish
from looptck_reference.vocabulary.values import Turn


def _in_words(seconds: int) -> Any:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


@breaks("server-replies-fit-their-schemas")
class RepliesTellTheTimeInWords(ServerLoop):
    """Sends the creation time of a plain reply as a date string."""

    def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
        step = super().finish(turn, capped=capped)
        if self.request.stream or not self.offer.entered:
            return step
        return replace(step, answer=replace(step.answer, created=_in_words(self.created)))


@breaks(
    "server-events-fit-their-schemas",
    collateral={"server-client-side-path-is-standard": "its streams have the same chunks"},
    cells=CHAT_STREAM,
)
class ChunksTellTheTimeInWords(ChatFrames):
    """Sends the creation time of a chunk as a date string."""

    def __init__(self, run_id: str, model: str, created: int) -> None:
        super().__init__(run_id, model, _in_words(created))


@breaks(
    "server-events-fit-their-schemas",
    collateral={"server-client-side-path-is-standard": "its streams have the same blocks"},
    cells=MESSAGES_STREAM,
)
class TextsShareAPlace(MessagesFrames):
    """Opens an empty block in a Messages stream before that of the text, at the same index."""

    def text(self, piece: str) -> list[bytes]:
        if self._open:
            return super().text(piece)
        at = self._blocks
        empty = [*super().text(""), *self._close()]
        self._blocks = at
        return [*empty, *super().text(piece)]


@breaks(
    "server-events-fit-their-schemas",
    collateral={"server-client-side-path-is-standard": "its streams have the same items"},
    cells=RESPONSES_STREAM,
)
class PiecesOfUnknownItems(ResponsesFrames):
    """Sends the text of a Responses stream without having opened the item that it belongs to."""

    def _begin_text(self) -> list[bytes]:
        return super()._begin_text()[1:]
