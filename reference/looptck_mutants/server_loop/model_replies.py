"""Replies of the model that are misread."""

from __future__ import annotations

import httpx

from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.config import Config
from looptck_reference.server.serving import Simulator
from looptck_reference.server.upstream import Upstream


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
