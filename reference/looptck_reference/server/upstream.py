"""The model behind the server: a Chat Completions API, which gets one plain request for each inference."""

from __future__ import annotations

import json
from collections.abc import Mapping

import httpx

from looptck_reference.http.endpoint import Endpoint
from looptck_reference.http.texts import Texts
from looptck_reference.server.errors import Refused
from looptck_reference.server.reading import TooLarge, read_bounded
from looptck_reference.vocabulary.errors import ConnectionLost, LoopError
from looptck_reference.vocabulary.values import Json, Turn
from looptck_reference.wires import OPENAI_CHAT
from looptck_reference.wires.text import error_message

__all__ = ["Upstream"]

PASSED_ON = frozenset({400, 401, 403, 404, 413, 422, 429})
"""The statuses for which the client is responsible; any other error of the model's service is a bad gateway."""


class Upstream:
    """The model at a base URL that includes the version; without a configured key it gets the client's."""

    def __init__(self, client: httpx.AsyncClient, base_url: str, api_key: str | None, *, limit: int) -> None:
        self._client = client
        self._key = api_key
        self._limit = limit
        self._endpoint = Endpoint(client, base_url, api_key or "none", OPENAI_CHAT)

    async def ask(self, body: Json, headers: Mapping[str, str]) -> Turn:
        """One inference.

        Raises:
            Refused: the model returned no turn.
        """
        sent = {name: value for name, value in headers.items() if name != "authorization" or self._key is None}
        request = self._endpoint.request(Texts().of(body), sent)
        try:
            with self._endpoint.reached():
                response = await self._client.send(request, stream=True)
                try:
                    content = await self.read(response)
                finally:
                    await response.aclose()
            if not response.is_success:
                status = response.status_code if response.status_code in PASSED_ON else 502
                said = _words(content) or response.reason_phrase
                raise Refused(status, f"the model answered {response.status_code}: {said}", code="upstream")
            return OPENAI_CHAT.decode(_object(content))
        except ConnectionLost as error:
            reason = type(
                error.__cause__
            ).__name__  # its message is left out, because it has a URL that the client must not see
            raise Refused(502, f"the model cannot be reached: {reason}", code="upstream") from error
        except LoopError as error:
            raise Refused(502, f"the model cannot be asked: {error}", code="upstream") from error
        except TooLarge as error:
            raise Refused(502, f"the model answered {error}", code="upstream") from error

    async def read(self, response: httpx.Response) -> bytes:
        """The body of a reply. Raises TooLarge."""
        return await read_bounded(response, self._limit)


def _object(content: bytes) -> Json:
    try:
        reply = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Refused(502, f"the model's reply is not JSON: {error}", code="upstream") from error
    if not isinstance(reply, dict):
        raise Refused(502, "the model's reply is JSON, but not an object", code="upstream")
    return reply


def _words(content: bytes) -> str:
    try:
        return error_message(json.loads(content))[:500]
    except (ValueError, RecursionError):
        return content[:500].decode("utf-8", "replace")
