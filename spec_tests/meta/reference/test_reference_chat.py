"""Chat Completions: requests and plain replies."""

from __future__ import annotations

import pytest

from looptck_reference import OPENAI_CHAT, MalformedReply, Stop
from meta.reference.reference_replies import call, plain


def test_only_the_choice_with_index_0_counts() -> None:
    """Other choices of the reply are not mixed in."""
    reply = plain("mine")
    reply["choices"].insert(0, {**plain("other")["choices"][0], "index": 1})

    assert "mine" == OPENAI_CHAT.decode(reply).text


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"choices": []},
        {"choices": [{"index": 0}]},
        plain(None, call(call_id="")),
        plain(None, call(name="")),
        plain(None, {"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls"}}),
        plain(None, "call"),  # type: ignore[arg-type]
        plain(None, function_call={"name": "old", "arguments": "{}"}),
        plain([{"type": "text", "text": "x"}]),  # type: ignore[arg-type]
    ],
    ids=repr,
)
def test_what_cannot_be_understood_is_not_ignored(reply: dict[str, object]) -> None:
    """A reply without a message, or with calls that could not be answered, fails loudly."""
    with pytest.raises(MalformedReply):
        OPENAI_CHAT.decode(reply)


def test_the_stub_of_a_cut_call_is_no_malformed_reply() -> None:
    """A call that was cut before its name is still reported as cut, not as malformed."""
    assert Stop.LENGTH is OPENAI_CHAT.decode(plain(None, call(name=""), finish="length")).stop
