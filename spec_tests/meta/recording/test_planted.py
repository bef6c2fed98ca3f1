"""Secrets of more than a hundred kinds in many places: none is left, whole or in part, and no JSON breaks."""

from __future__ import annotations

import json

import pytest

from looptck.cassettes.scrub import Scrubber
from meta.kit.each import each
from meta.recording.planted import PLACES, Planted, kinds
from meta.recording.seen import readings, seen

SECRETS = kinds()
IN_EVENTS = {"a delta for each letter", "deltas of escaped arguments"}
"""Places whose bodies have hundreds of events: every fifth kind is enough there, `tools.planted` has all."""
ON_ONE_LINE = {"a comment", "a page", "the name of an event"}


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

        assert "" == _seen(secret, masked, place)
        assert len(body) == len(masked)
        assert _loads(body) == _loads(masked)

    chosen = [*enumerate(SECRETS)][:: 5 if place in IN_EVENTS else 1]
    each({f"{number}: {secret.text[:16]}": (secret,) for number, secret in chosen}, is_masked)


def _seen(secret: Planted, body: bytes, place: str) -> str:
    """How much of a secret is to be read in a body; of one with lines nothing counts where there is one line."""
    lost = place in ON_ONE_LINE and "\n" in secret.text
    return "" if lost else seen(secret, set(readings(body.decode())))


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
