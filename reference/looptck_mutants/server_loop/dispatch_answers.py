"""Answers of the dispatch URL that are misread."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, ClassVar

import httpx

from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.config import Config
from looptck_reference.server.errors import ToolFailed
from looptck_reference.server.serving import Simulator
from looptck_reference.server.tools import DispatchUrl
from looptck_reference.server.values import Called, Result


class Reading(Simulator):
    """A server that reads the answers of its dispatch URL in a different way."""

    reader: ClassVar[type[Reader]]

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        if config.dispatch_url is not None:
            limits = config.limits
            self._dispatch = self.reader(
                self._client, config.dispatch_url, timeout=limits.dispatch_timeout, limit=limits.tool_result
            )


@breaks.part_of(Reading, "reader")
class Reader(DispatchUrl):
    """An endpoint whose answers are parsed by `result_of`."""

    async def run(self, called: Called, headers: Mapping[str, str]) -> Result:
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._client.post(self._url, json=self.posted(called))
            return Result(self.result_of(response.raise_for_status().text))
        except (TimeoutError, httpx.HTTPError) as error:
            raise ToolFailed(f"error from url: {error}") from error

    def posted(self, called: Called) -> dict[str, Any]:
        """The body of the request."""
        return {"name": called.call.name, "arguments": called.arguments}

    def result_of(self, text: str) -> str:
        raise NotImplementedError


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


@breaks("server-dispatch-content-is-the-result")
class ContentAloneIsTheResult(Reader):
    """Uses the whole body as the result if it has members besides `content`."""

    def result_of(self, text: str) -> str:
        body = _parsed(text)
        alone = isinstance(body, dict) and [*body] == ["content"] and isinstance(body["content"], str)
        return str(body["content"]) if alone else text


@breaks("server-dispatch-bare-text-is-the-result")
class BareTextIsAFailure(Reader):
    """Reports a failure to the model if the body is not JSON."""

    def result_of(self, text: str) -> str:
        body = _parsed(text)
        if body is None and text and text != "null":
            raise ToolFailed("the answer is not JSON")
        return body["content"] if isinstance(body, dict) and isinstance(body.get("content"), str) else text


@breaks("server-odd-dispatch-bodies-are-results")
class ObjectsAreTheirContent(Reader):
    """Uses the member `content` of every object as the result, whether the object has it or not."""

    def result_of(self, text: str) -> str:
        body = _parsed(text)
        return str(body.get("content")) if isinstance(body, dict) else text
