"""Keys that a request carries outside its body, masked: in its headers, and in the query of its path."""

from __future__ import annotations

import re

MASK = "***"
_SECRET = re.compile(r"auth|cookie|key|token|secret|password|signature|^sig$|^code$", re.IGNORECASE)
"""The names of what may be a key."""
_MEMBER = re.compile(r"([?&;])([^=&;#]*)=([^&;#]*)")


def masked(name: str, value: str, own: str = "") -> str:
    """The value of a header; a mask for one that may be a key, unless it is the kit's own."""
    is_own = bool(own) and value.rpartition(" ")[2] == own
    return MASK if _SECRET.search(name) and not is_own else value


def masked_path(path: str) -> str:
    """A path whose query has masks in place of what may be keys."""
    start, mark, query = path.partition("?")
    return start + _MEMBER.sub(_member, mark + query)


def _member(found: re.Match[str]) -> str:
    before, name, value = found.groups()
    return f"{before}{name}={masked(name, value)}"
