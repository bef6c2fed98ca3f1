"""Content that a cassette must not contain: keys, and anything that identifies a person, an account or a machine.

The recorder masks such content, and ``looptck cassettes check`` searches the written files for it again. No pattern
matches a mask of asterisks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

PATTERNS: dict[str, re.Pattern[str]] = {
    "a key": re.compile(
        r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk|gsk|xai|hf|glpat|xox[a-z]|gh[a-z])[-_](?P<a>[A-Za-z0-9_-]{8,})"
        r"|AKIA(?P<b>[0-9A-Z]{16})|AIza(?P<c>[\w-]{30,}))"
    ),
    "a bearer token": re.compile(r"\b[Bb]earer\s+(?P<a>[\w.~+/=-]{8,})"),
    "a value of a header that names its sender": re.compile(
        r"(?i)\b(?:authorization|(?:x-)?api[-_]?key|(?:set-)?cookie|password|client_secret|access_token)"
        r"[\"']?\s*[:=]\s*[\"']?(?P<a>[^\s\"'*][^\s\"']*)"
    ),
    "a JSON web token": re.compile(r"\b(?P<a>eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?)"),
    "a private key": re.compile(r"(?P<a>-----BEGIN [A-Z ]*PRIVATE KEY-----)"),
    "an id of an organisation, a project, an account or a user": re.compile(
        r"(?<![A-Za-z0-9])(?:org|proj|user|acct|wrkspc)[-_](?P<a>(?=[A-Za-z]*\d)[A-Za-z0-9]{8,})"
        r"|\"(?:(?:organization|project|account|workspace|user)_id|organization|safety_identifier)\"\s*:\s*"
        r"\"(?P<b>[^\"*][^\"]*)\""
    ),
    "a request id": re.compile(
        r"(?<![A-Za-z0-9])req_(?P<a>[A-Za-z0-9]{8,})|\"request_id\"\s*:\s*\"(?P<b>[^\"*][^\"]*)\""
    ),
    "an e-mail address": re.compile(r"(?P<a>[\w.+-]+@[\w-]+\.[\w.-]*\w)"),
    "an IP address": re.compile(
        r"(?<![\w.])(?P<a>(?!127\.0\.0\.1\b)(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d))(?![\w.]*\w)"
        r"|(?<![\w:])(?P<b>(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|(?:[0-9a-fA-F]{1,4}:){2,6}(?::[0-9a-fA-F]{1,4})+)"
        r"(?![\w:])"
    ),
    "a path of a machine": re.compile(
        r"(?P<a>/(?:home|root|tmp|Users|var|opt|work)/[^\s\"'\\]+|\b[A-Z]:\\{1,2}Users\\{1,2}[^\s\"'\\]+)"
    ),
}
"""The patterns by kind; the matched group is masked."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret that was found in a text, and its place."""

    kind: str
    start: int
    end: int


def secrets(text: str) -> Iterator[Secret]:
    """The secrets in a text, kind by kind; two of them may overlap."""
    for kind, pattern in PATTERNS.items():
        for match in pattern.finditer(text):
            start, end = match.span(match.lastindex or 0)
            yield Secret(kind, start, end)
