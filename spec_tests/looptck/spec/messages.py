"""The Messages request bodies themselves, for checks of details that the neutral history leaves out."""

from __future__ import annotations

from typing import Any

from looptck.bench.run import Run
from looptck.values.transcript import Received
from looptck.values.verdicts import NotReached

Block = dict[str, Any]


def blocks_of(received: Received, role: str) -> list[list[Block]]:
    """The contents of a request's messages of this role, each as blocks; empty if the body is not a request."""
    body = received.body if isinstance(received.body, dict) else {}
    messages = body.get("messages")
    said = messages if isinstance(messages, list) else []
    return [_blocks(one.get("content")) for one in said if isinstance(one, dict) and one.get("role") == role]


def carrying(run: Run, n: int) -> list[list[Block]]:
    """The contents of the user messages of request ``n`` that hold results. Raises NotReached if there is none."""
    contents = blocks_of(run.request(n), "user")
    found = [blocks for blocks in contents if any(block.get("type") == "tool_result" for block in blocks)]
    if not found:
        raise NotReached(f"request {n} holds no result")
    return found


def results(run: Run, n: int) -> list[Block]:
    """The results in request ``n``, in order. Raises NotReached if there is none."""
    return [block for blocks in carrying(run, n) for block in blocks if block.get("type") == "tool_result"]


def share_one_message(run: Run, n: int) -> None:
    """The results in request ``n`` are in one message. NotReached: there are no two."""
    found, messages = results(run, n), carrying(run, n)
    if len(found) < 2:
        raise NotReached("a single result is always in one message")
    assert 1 == len(messages), f"{len(found)} results are spread over {len(messages)} messages"


def listed(received: Received, member: str) -> list[Block]:
    """The objects in a top-level list of a request; empty if there is no such list."""
    body = received.body if isinstance(received.body, dict) else {}
    value = body.get(member)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _blocks(content: object) -> list[Block]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
