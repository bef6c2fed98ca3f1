"""What a request with MCP servers must hold depends on the version of the connector that its beta header asks for."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.wires.anthropic_messages.judge import judge
from looptck.wires.anthropic_messages.service import service
from meta.judge.messages.bodies import USER, request, tool

OLDER, NEWER = "mcp-client-2025-04-04", "mcp-client-2025-11-20"
SERVER = {"type": "url", "name": "m", "url": "https://m.example/sse"}
TOOLSET = {"type": "mcp_toolset", "mcp_server_name": "m"}
BARE = request(mcp_servers=[SERVER])
NAMED = {"type": "tool", "name": "of_the_server"}


def judged(body: dict[str, Any], betas: str | None) -> list[str]:
    """The rules that a body breaks under these betas; None: its headers are not known."""
    return [problem.rule for problem in judge(body, None if betas is None else {"anthropic-beta": betas})]


@pytest.mark.parametrize("betas", [NEWER, f"{OLDER},{NEWER}", f"fine-grained-tool-streaming-2025-05-14, {NEWER}"])
@pytest.mark.parametrize("tools", [None, [], [tool()]])
def test_the_newer_connector_wants_a_toolset(betas: str, tools: Any) -> None:
    """A server without a toolset is refused where the version with toolsets is asked for."""
    assert ["mcp-servers-are-used-once"] == judged({**BARE, "tools": tools}, betas)


@pytest.mark.parametrize("betas", [OLDER, f"prompt-caching-2024-07-31,{OLDER}", "", "x", None])
@pytest.mark.parametrize("tools", [None, [], [tool()]])
def test_the_older_connector_knows_no_toolsets(betas: str | None, tools: Any) -> None:
    """A server stands alone where the older version is asked for, and where it is not known which."""
    assert [] == judged({**BARE, "tools": tools}, betas)


def test_the_form_tells_the_version_where_no_header_does() -> None:
    """A request with a toolset is held to the rules of toolsets."""
    second = {**SERVER, "name": "n"}

    assert ["mcp-servers-are-used-once"] == judged(request(mcp_servers=[SERVER, second], tools=[TOOLSET]), None)


@pytest.mark.parametrize("betas", [OLDER, NEWER, None])
def test_names_of_servers_differ_under_every_version(betas: str | None) -> None:
    """Two servers of one name are refused whatever the version."""
    body = request(mcp_servers=[SERVER, SERVER], tools=[TOOLSET])

    assert ["mcp-servers-are-unique"] == judged(body, betas)


def test_a_choice_may_name_a_tool_of_a_server_without_toolset() -> None:
    """Under the older version nobody but the server knows the names of its tools."""
    body = {**BARE, "tool_choice": NAMED}

    assert [] == judged(body, OLDER)
    assert "choice-needs-tools" in judged(body, NEWER)


def test_a_service_is_given_the_headers() -> None:
    """The backend of a run judges by the header too, with a thread and without."""
    newer = {"anthropic-beta": NEWER}
    begun = {**request(USER, mcp_servers=[SERVER]), "thread": {"type": "create"}}

    for body in (BARE, begun):
        assert ["mcp-servers-are-used-once"] == [problem.rule for problem in service(True).judge(body, newer)]
        assert [] == service(True).judge(body)
