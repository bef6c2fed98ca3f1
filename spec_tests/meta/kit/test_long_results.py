"""Long results: the words and signs that say that a text was shortened, and characters that were cut."""

from __future__ import annotations

import json

import pytest

from looptck.spec.long_results import SIGN, broken, is_told_as_shortened, long_text, require_no_refusal, signs
from looptck.values.outcome import Failed
from looptck.values.verdicts import NotApplicable
from meta.kit.test_signs import FIRST, TWO, run

CUT = long_text(20_000)[:12_345]


@pytest.mark.parametrize(
    "told",
    [
        f"{CUT}\n[truncated]",
        f"{CUT}…",
        f"{CUT}...",
        f"{CUT}\n[noch 7.655 Zeichen]",
        f"{CUT}\n7655 caractères",
        f"{CUT} (gekürzt)",
        f"Erste 12345 Zeichen:\n{CUT}",
        f"{CUT[:5000]}\n...\n{CUT[5000:]}",
    ],
    ids=lambda text: text[:10] + text[-20:],
)
def test_told_as_shortened(told: str) -> None:
    """In any language: dots, a number with its unit, a remark in brackets."""
    assert is_told_as_shortened(told)


@pytest.mark.parametrize(
    "untold",
    [
        CUT,
        json.dumps(CUT),
        json.dumps({"result": CUT, "status": "ok"}),
        f"Result of ping:\n{CUT}",
        f"<result>{CUT}</result>",
    ],
    ids=["bare", "json", "object", "heading", "tag"],
)
def test_cut_without_a_word(untold: str) -> None:
    """A wrapping alone says nothing about a cut."""
    assert not is_told_as_shortened(untold)


@pytest.mark.parametrize("offset", range(4))
def test_character_cut(offset: int) -> None:
    """A cut between bytes leaves a replacement character, one between units a lone surrogate."""
    text = signs(offset, 8)
    of_bytes = text.encode()[: offset + 6].decode(errors="replace")
    of_units = text.encode("utf-16-le")[: 2 * offset + 6].decode("utf-16-le", errors="surrogatepass")

    assert ("\ufffd", "\ud83d") == tuple((broken(one) or "")[-1:] for one in (of_bytes, of_units))


def test_whole_characters() -> None:
    """A text of whole characters has none that is broken."""
    assert broken(signs(3, 8) + SIGN + long_text(100)) is None


def test_a_loop_may_refuse_what_is_too_long() -> None:
    """An error about the length of the prompt is the loop's own word; one about anything else excuses nothing."""
    told = run(TWO, Failed("other", "Budget", "The prompt is too long: 132345 tokens."), FIRST)
    crash = run(TWO, Failed("other", "RecursionError", "maximum recursion depth exceeded"), FIRST)

    require_no_refusal(crash)
    with pytest.raises(NotApplicable, match="too long for it"):
        require_no_refusal(told)
