"""Secrets of more than a hundred kinds in nineteen places: none is left, whole or in part, and no JSON breaks."""

from __future__ import annotations

import json

import pytest

from looptck.cassettes.decoded import readings
from looptck.cassettes.scrub import Scrubber
from meta.kit.each import each
from meta.recording.planted import PLACES, Planted, kinds

SECRETS = kinds()
LONGEST_PART = 7
"""Characters of a secret that may be seen one after the other."""


def test_there_are_many() -> None:
    """At least ninety kinds, and eighteen places."""
    assert 90 <= len({secret.text for secret in SECRETS})
    assert 18 <= len(PLACES)


@pytest.mark.parametrize("place", PLACES)
def test_nothing_of_a_secret_is_left(place: str) -> None:
    """On no level of the masked reply can eight characters of it be read; its length and its JSON are as they were."""

    def is_masked(secret: Planted) -> None:
        body = PLACES[place](secret.text)

        masked = Scrubber([]).body(body)

        assert [] == _left(secret, masked, place)
        assert len(body) == len(masked)
        assert _loads(body) == _loads(masked)

    each({f"{number}: {secret.text[:16]}": (secret,) for number, secret in enumerate(SECRETS)}, is_masked)


def _left(secret: Planted, body: bytes, place: str) -> list[str]:
    """Parts of a secret that are to be read in a body. A comment has one line."""
    parts = secret.random[:0] if place == "a comment" and "\n" in secret.text else secret.random
    seen = "\n".join(reading.text for reading in readings(body))
    windows = [part[at : at + LONGEST_PART + 1] for part in parts for at in range(max(len(part) - LONGEST_PART, 1))]
    return [window for window in windows if window in seen]


def _loads(body: bytes) -> list[bool]:
    """Whether each line of data, or the whole, is JSON."""
    found = []
    for text in [body.decode(), *(line.removeprefix("data: ") for line in body.decode().splitlines())]:
        try:
            json.loads(text)
        except ValueError:
            found.append(False)
        else:
            found.append(True)
    return found
