"""References of the frontmatter: `${env:NAME}` and `${env:NAME:default}`, alone or inside other text."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["Unresolved", "resolved"]

_REFERENCE = re.compile(r"\$\{(?P<protocol>\w+):(?P<name>[^:}]*)(?P<default>:[^}]*)?(?P<end>\}?)")


class Unresolved(Exception):
    """A reference stands for nothing; says why, and how to mend it."""


def resolved(text: str, environment: Mapping[str, str]) -> str:
    """A text with its references replaced.

    What follows the second colon is the default, colons and all, and may be empty. What a variable holds is never
    looked into again. The later specification leaves unknown protocols as they are (§4.2); a key that reads
    `${vault:KEY}` would then be sent to a provider, so they are refused here.

    Raises:
        Unresolved: a variable is not set and has no default, or the reference is not of a kind that is known here.
    """
    return _REFERENCE.sub(lambda found: _value(found, environment), text)


def _value(found: re.Match[str], environment: Mapping[str, str]) -> str:
    name, default = found["name"], found["default"]
    if not found["end"]:
        raise Unresolved(f"holds a reference without an end, {found[0]}; close it with a brace")
    if found["protocol"] != "env":
        known = "known is env, as in ${env:NAME} and ${env:NAME:default}"
        raise Unresolved(f"holds {found[0]}, whose protocol is not known; {known}")
    if name in environment:
        return environment[name]
    if default is None:
        mend = f"set it, or give it a default: ${{env:{name}:…}}"
        raise Unresolved(f"refers to the environment variable {name!r}, which is not set; {mend}")
    return default[1:]
