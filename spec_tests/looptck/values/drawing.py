"""What properties are tried with: the values follow from a property's name, and from nothing else on the machine.

Hypothesis would draw constants too that it finds in the source of local modules, the implementation's among them, and
keep files in the caller's directory.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from hypothesis import configuration
from hypothesis.internal.conjecture import providers


def seed_of(name: str) -> int:
    """The seed of a property's values."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])


@contextmanager
def undisturbed() -> Iterator[None]:
    """Draw no constants from anybody's source, and keep the files of hypothesis out of the caller's directory."""
    home = getattr(configuration, "__hypothesis_home_directory", None)
    collects = vars(providers).get("_get_local_constants")
    configuration.set_hypothesis_home_dir(_home().name)
    _forget()
    if collects is not None:
        vars(providers)["_get_local_constants"] = _none
    try:
        yield
    finally:
        if collects is not None:
            vars(providers)["_get_local_constants"] = collects
        _forget()
        configuration.set_hypothesis_home_dir(home)


def _none() -> object:
    """No constants, of the class that hypothesis has for them."""
    return type(vars(providers)["GLOBAL_CONSTANTS"])()


def _forget() -> None:
    """Forget which constants suit a draw: those of local modules may be among them."""
    known = getattr(providers, "CONSTANTS_CACHE", None)
    if known is not None:
        known.cache.clear()


@cache
def _home() -> tempfile.TemporaryDirectory[str]:
    """A folder that is gone with the process."""
    return tempfile.TemporaryDirectory(prefix="looptck-hypothesis-", ignore_cleanup_errors=True)
