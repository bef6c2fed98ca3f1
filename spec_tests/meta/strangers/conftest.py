"""What the tests of strange loops have in common."""

from __future__ import annotations

import ssl
from functools import cache

import pytest


@pytest.fixture(autouse=True)
def _one_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let SDKs share one TLS context: all traffic is plain HTTP, and making a context for each run is slow."""
    monkeypatch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
