"""References of the frontmatter: `${env:NAME}` and `${env:NAME:default}`, alone or inside other text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from looptck_reference.prompty.prompts.errors import Fault, below

__all__ = ["resolved"]

_REFERENCE = re.compile(r"\$\{(?P<protocol>\w+):(?P<name>[^:}]*)(?P<default>:[^}]*)?(?P<end>\}?)")


def resolved(value: Any, environment: Mapping[str, str], pointer: str = "") -> Any:
    """A value with the references in all its texts replaced; `pointer` is its place.

    What follows the second colon is the default, colons and all, and may be empty. What a variable holds is never
    looked into again. The later specification leaves unknown protocols as they are (§4.2); a key that reads
    `${vault:KEY}` would then be sent to a provider, so they are refused here.

    Raises:
        Fault: a variable is not set and has no default, or a reference is not of a kind that is known here.
    """
    if isinstance(value, dict):
        return {name: resolved(one, environment, below(pointer, name)) for name, one in value.items()}
    if isinstance(value, list):
        return [resolved(one, environment, below(pointer, index)) for index, one in enumerate(value)]
    if not isinstance(value, str):
        return value
    return _REFERENCE.sub(lambda found: _value(found, environment, pointer), value)


def _value(found: re.Match[str], environment: Mapping[str, str], pointer: str) -> str:
    name, default = found["name"], found["default"]
    if not found["end"]:
        raise Fault(pointer, f"holds a reference without an end, {found[0]}; close it with a brace")
    if found["protocol"] != "env":
        known = "known is env, as in ${env:NAME} and ${env:NAME:default}"
        raise Fault(pointer, f"holds {found[0]}, whose protocol is not known; {known}")
    if name in environment:
        return environment[name]
    if default is None:
        mend = f"set it, or give it a default: ${{env:{name}:…}}"
        raise Fault(pointer, f"refers to the environment variable {name!r}, which is not set; {mend}")
    return default[1:]
