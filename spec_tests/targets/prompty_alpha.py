"""What the drivers of Prompty's alphas share: nonces that Prompty reads as it wrote them.

An alpha marks the roles in a template with sixteen random hexadecimal digits, and reads those that look like a number
as one (``_parse_attrs`` in ``prompty/parsers/prompty.py``). So one run in 776 ends before its first model request, in
ValueError for a prompt injection that there was not. Verdicts have to be the same twice, so the nonces get a letter
here that no number has; Prompty 2.0.0 reads all of them right.
"""

from __future__ import annotations

import secrets
from types import SimpleNamespace

from prompty.parsers import prompty as parser
from prompty_driver import PromptyDriver


def _nonce(bytes: int) -> str:
    return f"n{secrets.token_hex(bytes)}"


class AlphaDriver(PromptyDriver):
    """Runs the kit's cases on an alpha of Prompty 2."""

    nests = True

    def __init__(self) -> None:
        parser.secrets = SimpleNamespace(token_hex=_nonce)
