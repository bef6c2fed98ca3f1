"""Keys drawn from the patterns of detect-secrets, a list that others keep, are found."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest
from detect_secrets import plugins
from detect_secrets.plugins.base import RegexBasedDetector
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from looptck.cassettes.secrets import secrets
from meta.kit.steady import STEADY

SHORTEST = 24
"""Characters of the shortest that is drawn: issuers write longer keys than the patterns would take."""
OTHERWISE = {"IPPublic", "JwtToken", "PrivateKey", "Slack", "RegexBased"}
"""Detectors whose patterns take what no issuer writes: a line of a private key without a key, parts of one letter."""


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """The patterns by detector."""
    for module in pkgutil.iter_modules(plugins.__path__):
        found = importlib.import_module(f"{plugins.__name__}.{module.name}")
        for name, one in vars(found).items():
            own = isinstance(one, type) and issubclass(one, RegexBasedDetector) and one.__module__ == found.__name__
            short = name.removesuffix("Detector")
            if own and short not in OTHERWISE:
                yield from ((short, pattern) for pattern in one().denylist)


PATTERNS = list(patterns())


def test_the_list_is_there() -> None:
    """It has detectors of twenty kinds."""
    assert 20 <= len({name for name, _ in PATTERNS})


@pytest.mark.parametrize(("name", "pattern"), PATTERNS, ids=[f"{name}-{n}" for n, (name, _) in enumerate(PATTERNS)])
def test_what_others_find_is_found(name: str, pattern: re.Pattern[str]) -> None:
    """Something of each text that a pattern takes for a secret is masked."""
    ascii_only = re.compile(pattern.pattern, pattern.flags & ~re.UNICODE | re.ASCII)
    drawn = st.from_regex(ascii_only, fullmatch=True).filter(lambda text: len(set(text)) > len(text) / 4)

    @given(drawn)
    @settings(STEADY, max_examples=5, suppress_health_check=list(HealthCheck))
    def is_found(text: str) -> None:
        long_enough = len(text) >= SHORTEST
        assert not long_enough or list(secrets(f"It is {text} ok")), f"{name}: {text}"

    is_found()
