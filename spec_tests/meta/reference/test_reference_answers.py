"""What the turn that ended a run adds to the history, on each wire, for the runs that go on."""

from __future__ import annotations

import pytest

from looptck_reference import ANTHROPIC_MESSAGES, OPENAI_RESPONSES
from meta.reference import reference_messages as messages
from meta.reference import reference_responses as responses
from meta.reference.reference_replies import Json

SAID = messages.text("18 °C")
UNSIGNED = {"type": "thinking", "thinking": "Where is", "signature": ""}


@pytest.mark.parametrize(
    ("blocks", "stop", "kept"),
    [
        ([messages.THINKING, SAID], "end_turn", [messages.THINKING, SAID]),
        ([messages.SEARCH, messages.FOUND, SAID], "end_turn", [messages.SEARCH, messages.FOUND, SAID]),
        ([messages.REDACTED, messages.text("")], "end_turn", []),
        ([SAID], "max_tokens", [SAID]),
        ([UNSIGNED], "max_tokens", []),
        ([SAID, messages.SEARCH], "max_tokens", [SAID]),
        ([messages.SEARCH], "max_tokens", []),
        ([SAID], "refusal", []),
        ([], "end_turn", []),
    ],
    ids=[
        "thinking",
        "search",
        "no words",
        "cut",
        "cut in thinking",
        "cut in a search",
        "cut early",
        "refused",
        "empty",
    ],
)
def test_messages(blocks: list[Json], stop: str, kept: list[Json]) -> None:
    """Blocks are kept unchanged; what the service would refuse, or would refuse to answer, is not."""
    answer = ANTHROPIC_MESSAGES.answer(ANTHROPIC_MESSAGES.decode(messages.message(*blocks, stop=stop)))

    assert ([{"role": "assistant", "content": kept}] if kept else []) == answer


@pytest.mark.parametrize(
    ("items", "cut", "kept"),
    [
        ([responses.REASONING, responses.text("18")], False, 2),
        ([responses.SEARCH, responses.text("18")], False, 2),
        ([responses.SEARCH, responses.refusal("no")], False, 2),
        ([responses.text("18"), responses.REASONING], False, 1),
        ([responses.REASONING], True, 0),
        ([responses.REASONING, responses.text("1", status="incomplete")], True, 2),
        ([responses.text("18"), responses.SEARCH], True, 1),
    ],
    ids=["reasoning", "search", "refused", "reasoning last", "cut in reasoning", "cut", "cut in a search"],
)
def test_responses(items: list[Json], cut: bool, kept: int) -> None:
    """Items are kept unchanged, without reasoning that nothing follows and calls of the service that were cut."""
    status, reason = ("incomplete", "max_output_tokens") if cut else ("completed", None)
    turn = OPENAI_RESPONSES.decode(responses.response(*items, status=status, reason=reason))

    assert items[:kept] == OPENAI_RESPONSES.answer(turn)
