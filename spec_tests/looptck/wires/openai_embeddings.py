"""Embeddings as OpenAI's API gives them, for loops that look something up: texts with words in common are near.

Each word of a text adds to a few places of its vector, which then has the length 1. The same text has the same vector
on every machine.
"""

from __future__ import annotations

import base64
import math
import re
import struct
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from looptck.values.lenient import as_object

_SIZES = {"text-embedding-3-large": 3072}
_SIZE = 1536
"""The places of a vector, if neither the request nor the model says how many."""
_MOST = 2048
"""The most texts of a request."""
_WORD = re.compile(r"\w+")
_PLACES = 4
"""How many places a word adds to."""


def embeddings(body: Any) -> dict[str, Any] | None:
    """The reply to a request to ``/embeddings``; None if it has no texts."""
    asked = as_object(body)
    texts = _texts(asked.get("input"))
    if not 0 < len(texts) <= _MOST:
        return None
    vectors = [_vector(text, _size(asked)) for text in texts]
    as_text = asked.get("encoding_format") == "base64"
    count = sum(len(_WORD.findall(text)) for text in texts)
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": place, "embedding": _base64(one) if as_text else one}
            for place, one in enumerate(vectors)
        ],
        "model": asked.get("model"),
        "usage": {"prompt_tokens": count, "total_tokens": count},
    }


def _texts(given: Any) -> list[str]:
    """The texts of an input: a text, a list of texts, tokens, or a list of lists of tokens."""
    if isinstance(given, str):
        return [given]
    entries = given if isinstance(given, list) else []
    if entries and all(isinstance(one, int) for one in entries):
        return [" ".join(map(str, entries))]
    return [one if isinstance(one, str) else " ".join(map(str, one)) for one in entries if isinstance(one, str | list)]


def _size(asked: Mapping[str, Any]) -> int:
    wanted = asked.get("dimensions")
    if isinstance(wanted, int) and 0 < wanted <= max(_SIZES.values()):
        return wanted
    return _SIZES.get(str(asked.get("model")), _SIZE)


def _vector(text: str, size: int) -> list[float]:
    vector = [0.0] * size
    for word in _WORD.findall(text.casefold()) or [text]:
        bits = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4 * _PLACES).digest()
        for begin in range(0, len(bits), 4):
            number = int.from_bytes(bits[begin : begin + 4], "big")
            vector[(number >> 1) % size] += 1.0 if number & 1 else -1.0
    length = math.sqrt(sum(one * one for one in vector)) or 1.0
    return [one / length for one in vector]


def _base64(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
