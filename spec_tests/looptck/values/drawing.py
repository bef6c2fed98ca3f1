"""Example values of properties: they depend only on the property's name, and on nothing else on the machine.

By default, hypothesis also draws constants from the source of local modules, such as those of the implementation, and
stores files in the caller's directory. Of these it needs only its tables of characters, which take seconds to make:
they are kept in the user's cache, for all processes of a run and for the next one.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import ModuleType


def seed_of(body: Callable[..., object]) -> int:
    """The seed of a property's values: it stays the same where the property's file moves to another folder."""
    package, _, place = body.__module__.partition(".spec.")
    module = f"{package}.spec.{place.rpartition('.')[2]}" if place else package
    return int.from_bytes(hashlib.sha256(f"{module}.{body.__qualname__}".encode()).digest()[:8])


@contextmanager
def undisturbed() -> Iterator[None]:
    """Draw no constants from source files, and keep hypothesis's files out of the caller's directory."""
    from hypothesis import configuration
    from hypothesis.internal.conjecture import providers

    home = getattr(configuration, "__hypothesis_home_directory", None)
    collects = vars(providers).get("_get_local_constants")
    configuration.set_hypothesis_home_dir(_home())
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
def _home() -> Path:
    """A folder in the user's cache; where that cannot be written, one that is deleted when the process ends."""
    import hypothesis
    import platformdirs

    kept = platformdirs.user_cache_path("looptck") / f"hypothesis-{hypothesis.__version__}"
    with suppress(OSError):
        kept.mkdir(parents=True, exist_ok=True)
        if os.access(kept, os.W_OK):
            return kept
    own = tempfile.TemporaryDirectory(prefix="looptck-hypothesis-", ignore_cleanup_errors=True)
    atexit.register(own.cleanup)
    return Path(own.name)
