"""Upstreams: the real servers that are recorded, each with its address, its key and its wires."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from urllib.parse import parse_qsl, urlsplit

from looptck.commands.recording.children import ChildFailed, child
from looptck.values.frozen import dataclass
from looptck.wires import WIRES

DUMMY_KEY = "looptck-dummy-key"
_NAMELESS = "a server of one's own"
_SECRET_NAMES = re.compile(r"(OPENAI|ANTHROPIC|LOOPTCK)_\w*(KEY|TOKEN|SECRET|HEADERS|ORG_ID|PROJECT_ID)")
"""Environment variables that hold keys, or that the SDKs send."""
_ACCOUNT = 16
"""A segment of an address of this many characters may be the name of an account."""


class NoUpstream(Exception):
    """The upstream cannot be used; the text gives what is missing."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """A server to record."""

    name: str
    """For the provenance."""
    base_url: str = field(repr=False)
    """It takes the place of ``/v1``."""
    model: str
    wires: tuple[str, ...]
    key: str = field(default=DUMMY_KEY, repr=False)
    dialect: str = ""
    tokens: Mapping[str, Sequence[int]] | None = None
    """How many tokens each turn of each scenario has, where the model is scripted."""

    @property
    def secrets(self) -> set[str]:
        """What no file may hold: keys, other secrets that the SDKs send, and private parts of the address."""
        found = {value for name, value in os.environ.items() if _SECRET_NAMES.fullmatch(name)}
        for headers in (value for name, value in os.environ.items() if name.endswith("_CUSTOM_HEADERS")):
            found |= {line.partition(":")[2].strip() for line in headers.splitlines()}
        address = urlsplit(self.base_url)
        found |= {address.username or "", address.password or "", address.netloc.rpartition("@")[0]}
        found |= {value for _, value in parse_qsl(address.query)}
        found |= {segment for segment in address.path.split("/") if len(segment) >= _ACCOUNT}
        if not self._is_known:
            found.add(address.hostname or "")
        return found | ({self.key} if self.key != DUMMY_KEY else set())

    @property
    def is_vendor(self) -> bool:
        """Whether it is the service of the wire's own vendor."""
        return self.base_url.startswith(_VENDORS)

    @property
    def _is_known(self) -> bool:
        """Whether the host of its address is public."""
        return self.base_url.startswith(("http://127.0.0.1:", *_VENDORS))


_VENDORS = ("https://api.openai.com/", "https://api.anthropic.com/")


@contextlib.contextmanager
def upstream(word: str, model: str | None, name: str | None = None, dialect: str = "") -> Iterator[Upstream]:
    """The upstream of this word: ``openai``, ``anthropic``, ``scripted`` or a base URL; of that, a name and a dialect.

    Raises:
        NoUpstream: something that it needs is missing.
    """
    if word == "scripted":
        with _scripted() as found:
            yield found
        return
    if not model:
        raise NoUpstream(f"--model is missing: name the model to request from {_named(word)}")
    match word:
        case "openai":
            yield Upstream("api.openai.com", f"{_VENDORS[0]}v1", model, _OF_OPENAI, _key("OPENAI_API_KEY"))
        case "anthropic":
            yield Upstream("api.anthropic.com", f"{_VENDORS[1]}v1", model, _OF_ANTHROPIC, _key("ANTHROPIC_API_KEY"))
        case _:
            yield _elsewhere(word, model, name or _NAMELESS, dialect)


_OF_OPENAI = ("openai-chat", "openai-responses")
_OF_ANTHROPIC = ("anthropic-messages",)


def _named(word: str) -> str:
    """The word of an upstream, unless it is an address, which may have a key in it."""
    return word if word.isalnum() else "the address"


def _key(name: str) -> str:
    if not os.environ.get(name):
        raise NoUpstream(f"{name} is not set: the upstream needs a key")
    return os.environ[name]


def _elsewhere(url: str, model: str, name: str, dialect: str) -> Upstream:
    address = urlsplit(url)
    if address.scheme not in {"http", "https"} or not address.hostname:
        known = "openai, anthropic, scripted or a URL such as http://HOST:PORT/v1"
        raise NoUpstream(f"--upstream {_named(url)}: must be {known}")
    key = os.environ.get("LOOPTCK_API_KEY") or DUMMY_KEY
    return Upstream(name, url, model, tuple(WIRES), key, dialect)


@contextlib.contextmanager
def _scripted() -> Iterator[Upstream]:
    """The scripted model, served by a process of its own."""
    try:
        with child([sys.executable, "-P", "-m", "looptck.commands.recording.scripted.serve"]) as said:
            yield Upstream(
                said["upstream"],
                said["base_url"],
                said["model"],
                tuple(WIRES),
                dialect=said["dialect"],
                tokens=said["tokens"],
            )
    except ChildFailed as error:
        raise NoUpstream(f"the scripted model cannot be served; it needs looptck[scripted]: {error}") from error
