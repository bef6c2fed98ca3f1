"""The dispatch URL: every call that the server cannot run itself is POSTed to one endpoint."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

import httpx

from looptck_reference.server.errors import ToolFailed
from looptck_reference.server.reading import TooLarge, read_bounded
from looptck_reference.server.values import Called, Result

__all__ = ["DispatchUrl"]


class DispatchUrl:
    """An endpoint that runs tools."""

    def __init__(self, client: httpx.AsyncClient, url: str, *, timeout: float, limit: int) -> None:
        self._client = client
        self._url = url
        self._timeout = timeout
        self._limit = limit
        parts = httpx.URL(url)
        self._shown = str(parts.copy_with(userinfo=b"", query=None, fragment=None))
        """The URL for messages to the model, without parts that may be secret."""

    async def run(self, called: Called, headers: Mapping[str, str]) -> Result:
        """Send name and arguments, nothing else; arguments that are not a JSON object are sent as text.

        Raises:
            ToolFailed: the status is an error, or the answer is missing, late or too large.
        """
        name = called.call.name
        body = json.dumps({"name": name, "arguments": called.arguments}, separators=(",", ":"))
        sent = {"content-type": "application/json", **headers}
        try:
            async with (
                asyncio.timeout(self._timeout),
                self._client.stream("POST", self._url, content=body, headers=sent, follow_redirects=True) as response,
            ):
                if not response.is_success:
                    status = f"{response.status_code} {response.reason_phrase}".strip()
                    raise ToolFailed(f"HTTP {status} from tool callback URL: {self._shown}")
                content = await read_bounded(response, self._limit)
        except TooLarge as error:
            raise ToolFailed(f"the result is larger than {error.limit} bytes") from error
        except TimeoutError:
            raise ToolFailed(f"no answer within {self._timeout:g} s from url ({self._shown})") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ToolFailed(f"error sending request for url ({self._shown})") from error
        return Result(_content(content.decode("utf-8", "replace")))


def _content(text: str) -> str:
    """The member `content` if it is a string; otherwise the body as it is."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return text
    content = body.get("content") if isinstance(body, dict) else None
    return content if isinstance(content, str) else text
