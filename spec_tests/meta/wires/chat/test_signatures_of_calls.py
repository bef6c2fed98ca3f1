"""Signatures of calls on Chat Completions: what servers demand back, which a loop may keep as bytes."""

from __future__ import annotations

from base64 import b64decode, b64encode

import pytest

from looptck.wires.openai_chat.compatible import extras


@pytest.mark.parametrize("tool", ["weather", "add", "ping", "note"])
def test_a_signature_is_base64(tool: str) -> None:
    """A loop that decodes the signature and encodes it again has the same text, and so sends it back unchanged."""
    signature = extras(tool)["extra_content"]["google"]["thought_signature"]

    assert signature == b64encode(b64decode(signature, validate=True)).decode()
    assert {"+", "/"} <= set(signature)


def test_signatures_of_tools_differ() -> None:
    """A signature that was given to another call is seen."""
    assert extras("weather") != extras("add")
