"""Example values of properties: they depend only on the property's name, and on nothing else on the machine.

By default, hypothesis also draws constants from the source of local modules, such as those of the implementation, and
stores files in the caller's directory.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType


def seed_of(name: str) -> int:
    """The seed of a property's values."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])


@contextmanager
def undisturbed() -> Iterator[None]:
    """Draw no constants from source files, and keep hypothesis's files out of the caller's directory."""
    from hypothesis import configuration
    from hypothesis.internal.conjecture import providers

    home = getattr(configuration, "__hypothesis_home_directory", None)
    collects = vars(providers).get("_get_local_constants")
    configuration.set_hypothesis_home_dir(_home().name)
    _forget(providers)
    if collects is not None:
        vars(providers)["_get_local_constants"] = lambda: _none(providers)
    try:
        yield
    finally:
        if collects is not None:
            vars(providers)["_get_local_constants"] = collects
        _forget(providers)
        configuration.set_hypothesis_home_dir(home)


def _none(providers: ModuleType) -> object:
    """No constants, of the class that hypothesis has for them."""
    return type(vars(providers)["GLOBAL_CONSTANTS"])()


def _forget(providers: ModuleType) -> None:
    """Clear hypothesis's cache of constants, which may contain those of local modules."""
    known = getattr(providers, "CONSTANTS_CACHE", None)
    if known is not None:
        known.cache.clear()


@cache
def _home() -> tempfile.TemporaryDirectory[str]:
    """A folder that is deleted when the process ends."""
    return tempfile.TemporaryDirectory(prefix="looptck-hypothesis-", ignore_cleanup_errors=True)
