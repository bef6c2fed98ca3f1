"""Embeddings: the same text has the same vector, and texts with words in common are near."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest

from looptck.wires.openai_chat import OPENAI_CHAT
from looptck.wires.openai_responses import OPENAI_RESPONSES

SMALL = "text-embedding-3-small"


def _asked(given: Any, **more: Any) -> dict[str, Any]:
    reply = OPENAI_CHAT.side("POST", "/embeddings", {"model": SMALL, "input": given, **more})
    assert reply is not None
    assert reply == OPENAI_RESPONSES.side("POST", "/embeddings", {"model": SMALL, "input": given, **more})
    return reply


def _vectors(given: Any, **more: Any) -> list[list[float]]:
    reply = _asked(given, **more)
    assert [*range(len(reply["data"]))] == [one["index"] for one in reply["data"]]
    return [one["embedding"] for one in reply["data"]]


def _near(one: list[float], two: list[float]) -> float:
    return sum(left * right for left, right in zip(one, two, strict=True))


def test_texts_with_words_in_common_are_near() -> None:
    """Nearer than others; each vector has the length 1."""
    paris, also, other = _vectors(["the weather in Paris", "Weather in Paris?", "a recipe for soup"])

    assert _near(paris, also) > 0.7
    assert abs(_near(paris, other)) < 0.4
    assert [pytest.approx(1)] * 3 == [_near(one, one) for one in (paris, also, other)]


@pytest.mark.parametrize(
    ("more", "size"),
    [({}, 1536), ({"model": "text-embedding-3-large"}, 3072), ({"dimensions": 8}, 8), ({"dimensions": 0}, 1536)],
)
def test_a_vector_has_the_size_that_is_asked_for(more: dict[str, Any], size: int) -> None:
    """Or that of the model."""
    assert [size] == [len(one) for one in _vectors("Paris", **more)]


def test_the_sdk_asks_for_base64() -> None:
    """The numbers are the same, as far as four bytes tell."""
    (text,) = _vectors("Paris", dimensions=8, encoding_format="base64")
    (numbers,) = _vectors("Paris", dimensions=8)

    assert numbers == pytest.approx(struct.unpack("<8f", base64.b64decode(str(text))))


@pytest.mark.parametrize("given", ["", "\ud800", [1, 2], [[1, 2]], ["Paris", ""]])
def test_whatever_has_words_or_none_has_a_vector(given: Any) -> None:
    """Tokens are taken for words."""
    assert all(_near(one, one) == pytest.approx(1) for one in _vectors(given))


@pytest.mark.parametrize("body", [None, {}, {"input": []}, {"input": 5}, {"input": ["a"] * 2049}])
def test_what_has_no_texts_has_no_reply(body: Any) -> None:
    """It is told as an unknown route."""
    assert OPENAI_CHAT.side("POST", "/embeddings", body) is None
