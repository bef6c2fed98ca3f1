"""The secrets that are planted have one at least of each kind that detect-secrets knows, a list that others keep."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest
from detect_secrets import plugins
from detect_secrets.plugins.base import RegexBasedDetector

from looptck.cassettes.secrets import secrets
from meta.recording.planted import kinds

NO_KEYS = {"RegexBasedDetector", "IPPublicDetector"}
"""The base of the others, and addresses of machines, which `test_scrub` has."""


def detectors() -> Iterator[tuple[str, list[re.Pattern[str]]]]:
    """The names of the detectors, and the patterns of each."""
    for module in pkgutil.iter_modules(plugins.__path__):
        found = importlib.import_module(f"{plugins.__name__}.{module.name}")
        for name, one in vars(found).items():
            own = isinstance(one, type) and issubclass(one, RegexBasedDetector) and one.__module__ == found.__name__
            if own and name not in NO_KEYS:
                yield name, list(one().denylist)


DETECTORS = dict(detectors())


def test_the_list_is_there() -> None:
    """It has detectors of twenty kinds."""
    assert 20 <= len(DETECTORS)


@pytest.mark.parametrize("name", DETECTORS)
def test_every_kind_of_the_list_is_planted(name: str) -> None:
    """A planted secret is one for this detector, and for us."""
    planted = [one.text for one in kinds() if any(pattern.search(one.text) for pattern in DETECTORS[name])]

    assert planted, f"plant one that matches {[pattern.pattern for pattern in DETECTORS[name]]}"
    assert all(list(secrets(text)) for text in planted)
