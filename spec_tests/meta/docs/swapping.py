"""The loop of the example on the page about failures."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from looptck_mutants.core.results import Swapped
from looptck_reference.kit.driver import Driver


class OneByOne(Driver):
    """Answers calls with each other's results; its tools run one after the other, so that each has the same result."""

    loop = Swapped
    dialects: ClassVar = {name: replace(dialect, parallel=False) for name, dialect in Driver.dialects.items()}
