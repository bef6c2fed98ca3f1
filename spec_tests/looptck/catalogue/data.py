"""The location of the project's data: in the installed package, or at the top of a checkout."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parents[1]
_ROOT = _PACKAGE / "_data" if (_PACKAGE / "_data").is_dir() else _PACKAGE.parents[1]


def fixture(relative: str) -> Path:
    """A file or folder under ``fixtures/``."""
    return _ROOT / "fixtures" / relative


def cassette(relative: str) -> Path:
    """A file or folder under ``cassettes/``."""
    return _ROOT / "cassettes" / relative


def driver_package(relative: str) -> Path:
    """A file of the packages that drivers in other languages import, under ``drivers/``."""
    return _ROOT / "drivers" / relative


def page(name: str) -> Path:
    """A page of the documentation."""
    return _ROOT / "docs" / name


@cache
def json_fixture(relative: str) -> Any:
    """The parsed JSON file at ``fixtures/relative``; treat it as read-only."""
    return json.loads(fixture(relative).read_text(encoding="utf-8"))
