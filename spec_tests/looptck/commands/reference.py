"""``looptck-reference``, as far as it can run without the packages of the reference."""

from __future__ import annotations

import sys
from importlib import import_module

from looptck.catalogue.extras import NotInstalled, need


def main() -> None:
    """Run the reference's own command line; exit status 2 where its extra is missing."""
    try:
        need("The reference server", "reference")
    except NotInstalled as error:
        print(f"Error: {error}", file=sys.stderr)  # noqa: T201 - a command's last words
        sys.exit(2)
    import_module("looptck_reference.server.cli").main()
