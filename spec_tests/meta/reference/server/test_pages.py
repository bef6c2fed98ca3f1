"""A web page cannot use a simulator on the machine of its reader, and a program that says what it sends can."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from looptck_reference.server.config import Config
from looptck_reference.server.http.app import create_app
from looptck_reference.server.serving import Simulator

BODY = json.dumps({"messages": []})
JSON = {"content-type": "application/json"}


def status(method: str, path: str, headers: dict[str, str], body: str = "", *, loopback_only: bool = True) -> int:
    """The status that a simulator on 127.0.0.1:8080 answers a request with."""

    async def ask() -> int:
        app = create_app(Simulator(Config(upstream="http://127.0.0.1:1/v1")), loopback_only=loopback_only)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as client:
            return (await client.request(method, path, headers=headers, content=body)).status_code

    return asyncio.run(ask())


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://elsewhere.example"},
        {"origin": "null"},
        {"origin": "http://localhost:3000"},
        {"origin": "http://127.0.0.1:8080.elsewhere.example"},
        {"host": "elsewhere.example"},
        {"host": "elsewhere.example:8080"},
        {"host": "127.0.0.1.elsewhere.example"},
        {"host": "192.168.1.2:8080"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
    ids=str,
)
@pytest.mark.parametrize(("method", "body"), [("GET", ""), ("PUT", BODY), ("DELETE", "")])
def test_what_a_page_sends_is_refused(headers: dict[str, str], method: str, body: str) -> None:
    """Whatever it asks for: also what would only be read."""
    assert 403 == status(method, "/v1/sessions/s", {**JSON, **headers}, body)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://127.0.0.1:8080"},
        {"host": "localhost:9"},
        {"host": "LOCALHOST."},
        {"host": "[::1]:8080"},
        {"host": "127.1.2.3"},
        {"sec-fetch-site": "same-origin"},
    ],
    ids=str,
)
def test_what_a_program_sends_is_answered(headers: dict[str, str]) -> None:
    """Programs send no Origin, and name the machine that they speak to."""
    assert 200 == status("GET", "/health", headers)


def test_a_public_server_has_any_name() -> None:
    """Elsewhere than on loopback its operator decides who reaches it; foreign pages are refused all the same."""
    assert 200 == status("GET", "/health", {"host": "models.example"}, loopback_only=False)
    assert 403 == status("GET", "/health", {"origin": "https://elsewhere.example"}, loopback_only=False)


@pytest.mark.parametrize("type", ["", "text/plain", "application/x-www-form-urlencoded", "text/plain;application/json"])
def test_a_body_that_does_not_say_what_it_is_is_refused(type: str) -> None:
    """A page can send these without asking first."""
    assert 415 == status("PUT", "/v1/sessions/s", {"content-type": type} if type else {}, BODY)


@pytest.mark.parametrize("type", ["application/json", "Application/JSON; charset=utf-8", "application/x+json"])
def test_json_is_read(type: str) -> None:
    """With parameters and in capitals too."""
    assert 415 != status("PUT", "/v1/sessions/s", {"content-type": type}, BODY)
