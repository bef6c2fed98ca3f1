"""Worlds that are left at the end of their test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from meta.reference.server.serving import World


@pytest.fixture
def world() -> Iterator[Callable[..., World]]:
    """Makes worlds."""
    made: list[World] = []

    def make(*turns: Any, **more: Any) -> World:
        made.append(World(*turns, **more))
        return made[-1]

    yield make
    for one in made:
        one.close()
