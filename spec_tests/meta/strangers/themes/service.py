"""The HTTP side that these loops share: one request, tried again a few times where the service asks for it."""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import TIMEOUT, Json, Stopped

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

BUSY = (408, 409, 429)
BEARER = {"openai-chat": "chat/completions", "openai-responses": "responses"}
PATIENCE = 30.0


def client_options(case: Json) -> Json:
    """Give the options of a client for the service of a case."""
    key = {"authorization": f"Bearer {case['api_key']}"}
    if case["wire"] not in BEARER:
        key = {"x-api-key": case["api_key"], "anthropic-version": "2023-06-01"}
    headers = {**key, "content-type": "application/json"}
    return {"base_url": case["base_url"], "headers": headers, "timeout": TIMEOUT, "trust_env": False}


class Service:
    """Sends the requests of one run to the service of its case."""

    tries = 3
    pause = 0.05

    def __init__(self, case: Json) -> None:
        self.path = BEARER.get(case["wire"], "messages")
        self.client = httpx.Client(**client_options(case))

    def close(self) -> None:
        self.client.close()

    def ask(self, body: Json) -> Json:
        """Return the reply to a request, in one piece."""
        with self.asked(body) as response:
            try:
                reply = json.loads(response.read())
            except ValueError as error:
                raise Stopped("provider", f"the reply is not JSON: {error}") from error
        if not isinstance(reply, dict):
            raise Stopped("provider", "the reply is not an object")
        return reply

    @contextmanager
    def asked(self, body: Json) -> Iterator[httpx.Response]:
        """Give the open response to a request that was accepted."""
        response = self.send(body)
        try:
            yield response
        finally:
            response.close()

    def send(self, body: Json) -> httpx.Response:
        """Send the same bytes until they are accepted, or no further try makes sense."""
        content = json.dumps(body).encode()
        for attempt in range(self.tries):
            response = self.client.send(self.client.build_request("POST", self.path, content=content), stream=True)
            if response.status_code < 400:
                return response
            response.read()
            response.close()
            delay = self.delay(response, attempt)
            if attempt + 1 == self.tries or not self.is_passing(response) or delay > PATIENCE:
                break
            time.sleep(delay)
        raise Stopped("provider", f"status {response.status_code}: {response.text[:500]}")

    def is_passing(self, response: httpx.Response) -> bool:
        """Say whether the same request may be accepted later."""
        return response.status_code in BUSY or response.status_code >= 500

    def delay(self, response: httpx.Response, attempt: int) -> float:
        """Give the seconds to wait: those that the service asks for, or a growing pause."""
        with suppress(KeyError, ValueError):
            return max(0.0, float(response.headers["retry-after-ms"]) / 1000)
        said = response.headers.get("retry-after", "")
        with suppress(ValueError):
            return max(0.0, float(said))
        with suppress(ValueError):
            return max(0.0, (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds())
        return self.pause * 2**attempt


class AsyncService(Service):
    """Sends the requests of one asynchronous run."""

    def __init__(self, case: Json) -> None:
        self.path = BEARER.get(case["wire"], "messages")
        self.talker = httpx.AsyncClient(**client_options(case))

    @asynccontextmanager
    async def listened(self, body: Json) -> AsyncIterator[httpx.Response]:
        """Give the open response to a request that was accepted."""
        content = json.dumps(body).encode()
        for attempt in range(self.tries):
            async with self.talker.stream("POST", self.path, content=content) as response:
                if response.status_code < 400:
                    yield response
                    return
                await response.aread()
            delay = self.delay(response, attempt)
            if attempt + 1 == self.tries or not self.is_passing(response) or delay > PATIENCE:
                break
            await asyncio.sleep(delay)
        raise Stopped("provider", f"status {response.status_code}: {response.text[:500]}")
