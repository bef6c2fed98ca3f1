"""``looptck-reference``: reports a missing extra, or runs the command line of the reference server."""

from __future__ import annotations

import sys
from importlib import import_module

from looptck.catalogue.extras import NotInstalled, need


def main() -> None:
    """Run the command line of the reference server; exit status 2 if its extra is missing."""
    try:
        need("The reference server", "reference")
    except NotInstalled as error:
        print(f"Error: {error}", file=sys.stderr)  # noqa: T201 - the command's error message
        sys.exit(2)
    import_module("looptck_reference.server.cli").main()
