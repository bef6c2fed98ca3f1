"""The extras of the distribution: packages that only some features of looptck need."""

from __future__ import annotations

import re
from functools import cache
from importlib import metadata

SHOWN = 3
"""How many of the missing packages are named."""
_OF_EXTRA = re.compile(r"""([\w.-]+).*;.*\bextra == ["']([\w-]+)["']""")


class NotInstalled(ImportError):
    """A feature needs an extra that is not installed; the message says what to install."""


def need(what: str, extra: str) -> None:
    """Raises NotInstalled, with ``what`` as its subject, if a package of an extra is missing."""
    names = missing(extra)
    if names:
        rest = len(names) - SHOWN
        more = f" and {rest} more" if rest > 0 else ""
        raise NotInstalled(f"{what} needs {', '.join(names[:SHOWN])}{more}: pip install 'looptck[{extra}]'")


@cache
def missing(extra: str) -> tuple[str, ...]:
    """The packages of an extra that are not installed; empty if looptck itself is not installed."""
    return tuple(name for name in _packages(extra) if not _is_installed(name))


def _packages(extra: str) -> list[str]:
    try:
        requirements = metadata.requires("looptck") or []
    except metadata.PackageNotFoundError:
        return []
    found = [_OF_EXTRA.match(one) for one in requirements]
    return [one[1] for one in found if one is not None and one[2] == extra]


def _is_installed(package: str) -> bool:
    try:
        metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return False
    return True
