"""What looptck's own YAML files contain, kept as Python keeps its bytecode: each is parsed and checked once.

The catalogue is read by every command and by every process of a run, and parsing it takes longer than all else that
a first verdict needs of it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from looptck.catalogue.data import cassette, fixture

READER = tuple(Path(__file__).with_name(f"yaml_{name}.py") for name in ("files", "text"))
"""The modules that read YAML."""
DIGEST = hashlib.sha256().digest_size


def parsed_once(path: Path, read: Callable[[], Any], *others: Path) -> Any:
    """The content of a file: as it was kept, or as it is read now.

    It is kept beside the file where Python would keep its bytecode (``PYTHONPYCACHEPREFIX``), and not at all under
    ``PYTHONDONTWRITEBYTECODE``, where it cannot be written, or if the file is not one of looptck's own. What is kept is
    used only as long as the file, the others and the reader of YAML are what they were.

    Args:
        path: the file.
        read: reads and checks it; what this raises is raised, and nothing is kept.
        others: the files that the content depends on too: its schema, a module that takes it apart.
    """
    if not _is_ours(path):
        return read()
    try:
        place = Path(importlib.util.cache_from_source(str(path))).with_suffix(f"{path.suffix}-parsed")
        key = hashlib.sha256(path.read_bytes() + b"".join(map(_digest_of, (*READER, *others)))).digest()
    except (OSError, NotImplementedError):  # whoever reads it says why
        return read()
    found = _found(place, key)
    if found is None:
        found = read()
        _keep(place, key, found)
    return found


def _found(place: Path, key: bytes) -> Any:
    """What is kept there under this key; None if nothing is, or another thing, or a part of it."""
    try:
        data = place.read_bytes()
    except OSError:
        return None
    body = data[DIGEST:]
    return marshal.loads(body) if data[:DIGEST] == _digest(key, body) else None  # noqa: S302  as Python loads bytecode


def _keep(place: Path, key: bytes, content: Any) -> None:
    if sys.dont_write_bytecode:
        return
    try:
        body = marshal.dumps(content)
    except ValueError:  # it has a date in it
        return
    fresh = place.with_name(f"{place.name}.{os.getpid()}")
    with suppress(OSError):  # the folder is read-only, or the disk is full
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            fresh.write_bytes(_digest(key, body) + body)
            fresh.replace(place)
        finally:
            fresh.unlink(missing_ok=True)


def _digest(key: bytes, body: bytes) -> bytes:
    return hashlib.sha256(key + body).digest()


@cache
def _is_ours(path: Path) -> bool:
    return path.is_relative_to(fixture("")) or path.is_relative_to(cassette(""))


@cache
def _digest_of(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()
