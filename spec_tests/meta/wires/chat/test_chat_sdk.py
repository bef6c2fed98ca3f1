"""What the models of OpenAI's SDK for Chat Completions do not know."""

from __future__ import annotations

import pytest
from openai.types.chat import ChatCompletion
from pydantic import ValidationError

from looptck.values.framing import DEFAULT, PRESETS
from looptck.values.turns import calls
from looptck.wires.openai_chat import OPENAI_CHAT
from meta.wires.chat.samples import CUSTOM, TURNS
from meta.wires.chat.sdk import not_declared, of_chunks


def test_unknown_fields_are_unknown() -> None:
    """The framing with unknown fields has fields in the reply, its message and every chunk that no model knows."""
    framing = PRESETS["unknown-fields"]
    numbered = TURNS["call"].numbered(1)
    chunks = OPENAI_CHAT.events(numbered, 1, framing)[:-1]
    body = OPENAI_CHAT.body(numbered, 1, framing)

    assert ["/choices/0/message/x_unknown", "/x_unknown"] == sorted(not_declared(ChatCompletion, body))
    assert ["/x_unknown"] * len(chunks) == of_chunks(chunks)


def test_no_model_knows_custom_calls_in_a_stream() -> None:
    """The SDK has custom calls in bodies and none in chunks; what we stream of them is a guess."""
    with pytest.raises(ValidationError, match="Input should be 'function'"):
        of_chunks(OPENAI_CHAT.events(calls(CUSTOM).numbered(1), 1, DEFAULT))
