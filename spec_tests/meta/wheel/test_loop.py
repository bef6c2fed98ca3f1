"""The loop that is judged in a bare environment, as somebody with strict types writes it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from looptck.driver import Driver
from meta.wheel import loop


def test_a_driver_of_one_mode() -> None:
    """A subclass of the protocol needs no method of the other mode, for mypy either."""
    case: Any = {}
    driver: Driver = loop.Driver()

    assert ["sync"] == driver.start()["modes"]
    with pytest.raises(AttributeError, match="Driver has no method run_async"):
        asyncio.run(driver.run_async(case, print))
