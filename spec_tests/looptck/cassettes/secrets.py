"""Content that a cassette must not contain: keys, and anything that identifies a person, an account or a machine.

The recorder masks such content, and ``looptck cassettes check`` searches the written files for it again. Nothing here
matches a mask of asterisks. Three kinds of rules:

- forms of keys and tokens, from ``fixtures/secret-kinds.yaml``, and of private data (`PRIVATE`);
- values that something beside them calls a secret: a member, a header, a word in front, a URL with a password;
- text that looks random, for keys without a form. Ids and opaque values of the services look the same and have to be
  kept, so that this rule is left out for the members that hold them (`OPAQUE`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from math import log2

from looptck.catalogue.data import fixture
from looptck.catalogue.yaml_files import parse
from looptck.values.frozen import dataclass

PRIVATE: dict[str, re.Pattern[str]] = {
    "a private key": re.compile(
        r"(?s)(?P<a>-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
        r".*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"
        r"|PuTTY-User-Key-File-\d:.*?(?:Private-MAC: ?\w*|\Z))"
    ),
    "a password in a URL": re.compile(r"://[^/\s:@*]*:(?P<a>[^/\s@*][^/\s@]*)@"),
    "a bearer token": re.compile(r"(?i)\b(?:bearer|basic|token)\s+(?P<a>(?=[^\s]*\d)[\w.~+/=-]{8,})"),
    "a value of a header that names its sender": re.compile(
        r"(?i)\b(?:authorization|(?:x-)?api[-_]?key|(?:set-)?cookie|password|client_secret|access_token)"
        r"(?:\\?[\"'])?\s*[:=]\s*(?:\\?[\"'])?(?P<a>[^\s\"'\\*][^\s\"'\\]*)"
    ),
    "a value that is called a secret": re.compile(
        r"(?i)(?:authorization|api[-_ ]?key|access[-_ ]?key|secret[-_ ]?key|account[-_ ]?key|private[-_ ]?key|"
        r"(?:set-)?cookie|passw(?:or)?d|passphrase|\bpwd|client[-_ ]?secret|\bsecret|"
        r"(?:access|refresh|auth|id|session|security|bearer|api)[-_ ]?token|\btoken|_authtoken|credentials?)"
        r"(?:\\?[\"'])?\s*(?:[:=]+|=>|\bis\b)\s*(?:\\?[\"'])?(?P<a>(?!\*)(?=[^\s\"']{,200}[\d/+_=-])[^\s\"'\\,;)}\]]{6,})"
    ),
    "a key or token of a named service": re.compile(
        r"(?i)(?<![A-Za-z0-9_])(?!(?:prompt_)?cache|idempotency|page|next)[A-Za-z]\w*[-_](?:token|key)"
        r"(?:\\?[\"'])?\s*(?:[:=]+|=>)\s*(?:\\?[\"'])?"
        r"(?P<a>(?=[^\s\"']{,200}\d)(?=[^\s\"']{,200}[A-Za-z])[^\s\"'\\,;)}\]*]{12,})"
    ),
    "a password of a command": re.compile(
        r"\bcurl\s(?:[^\n]{,300}?\s)?(?:-u|--user)(?:\s+|=)\\?[\"']?[^\s:\"'\\]*:\\?[\"']?(?P<a>[^\s\"'\\*:][^\s\"'\\]*)"
    ),
    "an id of an organisation, a project, an account or a user": re.compile(
        r"(?<![A-Za-z0-9])(?:org|proj|user|acct|wrkspc)[-_](?P<a>(?=[A-Za-z]*\d)[A-Za-z0-9]{8,})"
    ),
    "a request id": re.compile(r"(?<![A-Za-z0-9])req_(?P<a>[A-Za-z0-9]{8,})"),
    "an e-mail address": re.compile(r"(?<![\w.+-])(?P<a>[\w.+-]+@[\w-]+\.[\w.-]*\w)"),
    "an IP address": re.compile(
        r"(?<![\w.])(?P<a>(?!127\.0\.0\.1\b)(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d))(?![\w.]*\w)"
        r"|(?<![\w:])(?P<b>(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|(?:[0-9a-fA-F]{1,4}:){2,6}(?::[0-9a-fA-F]{1,4})+)"
        r"(?![\w:])"
    ),
    "a path of a machine": re.compile(
        r"(?P<a>/(?:home|root|tmp|Users|var|opt|work)/[^\s\"'\\]+|\b[A-Z]:\\{1,2}Users\\{1,2}[^\s\"'\\]+)"
    ),
}
"""Patterns by kind; the matched group is masked."""
MEMBERS: dict[str, re.Pattern[str]] = {
    "an id of an organisation, a project, an account or a user": re.compile(
        r"^(?:(?:organization|project|account|workspace|user)_id|organization|safety_identifier)$"
    ),
    "a request id": re.compile(r"^request_id$"),
    "a value that is called a secret": re.compile(
        r"(?i)^(?:proxy[-_])?authorization$|(?:api|access|secret|private|account)[-_]?key$|^(?:set-)?cookie$|"
        r"passw(?:or)?d$|passphrase$|secret$|(?:access|refresh|auth|id|session|security|bearer)[-_]?token$"
    ),
}
"""Names of members by the kind of what they hold; the whole value is masked."""
OPAQUE = re.compile(
    r"(?:^|_)ids?$|^(?:signature|encrypted_content|encrypted_index|encrypted_stdout|data|system_fingerprint|obfuscation|"
    r"model|call_id|fingerprint|hash|url|file_data|image_url|result)$"
)
"""The names of members whose values are ids and opaque values of the services, or of models, and look random."""
SHORTEST = 20
"""Characters of the shortest text that is looked at for being random."""
MOST_ORDERED = 3.1
"""Bits for each character below which a text is not random: words, numbers, dates, repetitions."""
_TOKEN = re.compile(rf"[A-Za-z0-9_~.+/=-]{{{SHORTEST},}}")
_SERVICE_ID = re.compile(
    r"(?:call|toolu|srvtoolu|mcptoolu|msg|resp|rs|fc|ws|ci|ig|mcp|cntr|container|file|run|step|item|chatcmpl|cmpl|gen)[_-]"
)
"""The beginnings of the ids that services give to replies, items and calls."""
_PARTS = re.compile(r"[-_./+=~]+")


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret that was found in a text, and its place."""

    kind: str
    start: int
    end: int


def secrets(text: str, member: str = "", *, is_json: bool = False) -> Iterator[Secret]:
    """The secrets in a text, kind by kind; two of them may overlap.

    Args:
        text: what is searched.
        member: the name of the member whose value it is, if any.
        is_json: whether it is JSON as it is written, in which a pattern must not go beyond a string. Its strings have
            to be searched too.
    """
    if text.strip("*"):
        yield from (Secret(kind, 0, len(text)) for kind, pattern in MEMBERS.items() if pattern.search(member))
    for kind, pattern in () if is_json else PRIVATE.items():
        for match in pattern.finditer(text):
            start, end = match.span(match.lastindex or 0)
            yield Secret(kind, start, end)
    for match in _forms().finditer(text):
        yield Secret(f"a key of {_names()[match.lastgroup or '']}", *match.span())
    if not OPAQUE.search(member):
        for match in _TOKEN.finditer(text):
            if not _SERVICE_ID.match(match.group()) and _is_random(match.group()):
                yield Secret("text that looks like a key", *match.span())


@cache
def kinds() -> dict[str, str]:
    """The forms of keys and tokens, by issuer."""
    return {str(name): str(form) for name, form in parse(fixture("secret-kinds.yaml")).items()}


@cache
def _names() -> dict[str, str]:
    return {f"k{place}": name for place, name in enumerate(kinds())}


@cache
def _forms() -> re.Pattern[str]:
    """All forms, each a group of its own."""
    forms = kinds().values()
    return re.compile("(?<![A-Za-z0-9])(?:" + "|".join(f"(?P<k{n}>{form})" for n, form in enumerate(forms)) + ")")


def _is_random(text: str) -> bool:
    """Whether a text has the look of a key: long parts that mix letters and digits, and nothing that repeats."""
    parts = [part for part in _PARTS.split(text) if part]
    mixed = sum(len(part) for part in parts if re.search("[A-Za-z]", part) and re.search("[0-9]", part))
    cased = sum(len(part) for part in parts if len(re.findall("[a-z][A-Z]|[A-Z]{2}[a-z]", part)) > 2)
    return max(mixed, cased) >= min(SHORTEST, 0.6 * len(text)) and _bits(text) > MOST_ORDERED


def _bits(text: str) -> float:
    """Shannon's entropy of the characters of a text, in bits for each."""
    return -sum(n / len(text) * log2(n / len(text)) for n in Counter(text).values())
