"""Replies of the model that are misread."""

from __future__ import annotations

from collections.abc import Mapping

import httpx

from looptck_mutants.server_loop.parts import breaks
from looptck_reference.http.texts import Texts
from looptck_reference.server.config import Config
from looptck_reference.server.errors import Refused
from looptck_reference.server.serving import Simulator
from looptck_reference.server.upstream import Upstream
from looptck_reference.vocabulary.values import Json, Turn
from looptck_reference.wires.openai_chat_stream import ChatStream
from looptck_reference.wires.sse import EventReader


class PieceByPiece(Upstream):
    """A model whose replies are decoded piece by piece."""

    async def read(self, response: httpx.Response) -> bytes:
        pieces = [piece.decode(errors="replace") async for piece in response.aiter_bytes()]
        return "".join(pieces).encode()


@breaks("server-model-replies-may-be-cut-anywhere")
class DecodesPieceByPiece(Simulator):
    """Decodes each piece of the model's reply for itself."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        key, limit = config.upstream_key, config.limits.reply
        self._upstream = PieceByPiece(self._client, config.upstream, key, limit=limit)


class HalfStreams(Upstream):
    """A model that is asked for event streams, some of which may end without a reason to stop."""

    def takes_half(self, turn: Turn) -> bool:
        """Whether it takes a turn that the model has not finished."""
        raise NotImplementedError

    async def ask(self, body: Json, headers: Mapping[str, str]) -> Turn:
        sent = {name: value for name, value in headers.items() if name != "authorization"}
        more = {"stream": True, "stream_options": {"include_usage": True}}
        response = await self._client.send(self._endpoint.request(Texts().of({**body, **more}), sent))
        if not response.is_success:
            raise Refused(502, f"the model answered {response.status_code}", code="upstream")
        stream = ChatStream()
        for data in EventReader().feed(response.content):
            if data != "[DONE]":
                stream.add(data)
        turn = stream.turn()
        if not (stream.whole() or self.takes_half(turn)):
            raise Refused(502, "the stream of the model has no end", code="upstream")
        return turn


class HalfAnswers(HalfStreams):
    """Takes half an answer, and no turn with calls."""

    def takes_half(self, turn: Turn) -> bool:
        return not turn.calls


class HalfCalls(HalfStreams):
    """Takes a turn with calls, and no half answer."""

    def takes_half(self, turn: Turn) -> bool:
        return bool(turn.calls)


@breaks("server-unfinished-model-stream-is-told")
class HalfAnswersAreWhole(Simulator):
    """Asks its model for event streams, and sends its client half an answer as a whole one."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        key, limit = config.upstream_key, config.limits.reply
        self._upstream = HalfAnswers(self._client, config.upstream, key, limit=limit)


@breaks("server-unfinished-model-stream-runs-nothing")
class CallsOfHalfStreamsRun(Simulator):
    """Asks its model for event streams, and runs the calls of a turn that the model has not finished."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        key, limit = config.upstream_key, config.limits.reply
        self._upstream = HalfCalls(self._client, config.upstream, key, limit=limit)
