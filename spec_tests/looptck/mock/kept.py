"""What the plugin of the mock keeps in a run of pytest, and with a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from looptck.mock.llm import LLM
    from looptck.provider.server import Provider

PROVIDER: pytest.StashKey[Provider] = pytest.StashKey()
USED: pytest.StashKey[LLM] = pytest.StashKey()
TOLD: pytest.StashKey[list[str]] = pytest.StashKey()
"""What the report of a test says."""
