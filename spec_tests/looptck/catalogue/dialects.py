"""Dialects: what compatible servers send and accept otherwise than the services whose APIs they speak."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from looptck.catalogue.data import fixture
from looptck.catalogue.requirements import unknown
from looptck.catalogue.yaml_files import load
from looptck.values.frozen import dataclass

FOLDER = fixture("dialects")
SCHEMA = FOLDER / "dialect.schema.json"


@dataclass(frozen=True, slots=True)
class Accepted:
    """What a server accepts, although a request with it breaks a rule of the service."""

    wire: str
    rule: str
    at: tuple[str, ...]
    """JSON pointers of the problem, with ``*`` for any member."""
    up: int = 0
    """How many levels above the problem is what the judge is shown otherwise."""
    judged_as: Any = None
    """What the judge is shown in its place; None: nothing."""

    def covers(self, wire: str, rule: str, pointer: str) -> bool:
        """Whether it is about this problem."""
        return (wire, rule) == (self.wire, self.rule) and any(_matches(pattern, pointer) for pattern in self.at)


@dataclass(frozen=True, slots=True)
class Dialect:
    """One server's dialect."""

    name: str
    title: str
    hosts: tuple[str, ...]
    accepts: tuple[Accepted, ...]
    sends: Mapping[str, tuple[str, ...]]
    """The quirks of its replies, by wire."""
    framings: Mapping[str, tuple[str, ...]]
    """The names of the framings in which it sends all replies at once, by wire."""

    def is_spoken_at(self, host: str) -> bool:
        """Whether a recorded request to this host was one to the server."""
        return any(fnmatchcase(host, pattern) for pattern in self.hosts)


def names() -> list[str]:
    """The names of all dialects."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


@cache
def dialect(name: str) -> Dialect:
    """The dialect of this name.

    Raises:
        ValueError: there is none.
        BadFile: its file breaks the schema.
    """
    if name not in names():
        raise ValueError(unknown("dialect", name, names()))
    told = load(FOLDER / f"{name}.yaml", SCHEMA)
    sent = told.get("sends", ())
    accepts = [
        Accepted(one["wire"], one["rule"], tuple(one["at"]), one.get("up", 0), one.get("judged_as"))
        for one in told.get("accepts", ())
    ]
    return Dialect(
        name,
        told["title"],
        tuple(told.get("hosts", ())),
        tuple(accepts),
        _named(sent, "quirk"),
        _named(sent, "framing"),
    )


def accepting(wire: str, rule: str, pointer: str) -> list[str]:
    """The names of the dialects whose servers accept what the service of this wire refuses."""
    return [name for name in names() if any(one.covers(wire, rule, pointer) for one in dialect(name).accepts)]


def _named(sent: Iterable[Mapping[str, str]], kind: str) -> dict[str, tuple[str, ...]]:
    """What a server sends of this kind, by wire."""
    found: dict[str, tuple[str, ...]] = {}
    for one in sent:
        if kind in one:
            found[one["wire"]] = (*found.get(one["wire"], ()), one[kind])
    return found


def _matches(pattern: str, pointer: str) -> bool:
    parts, wanted = pointer.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(want in {"*", part} for want, part in zip(wanted, parts, strict=True))
