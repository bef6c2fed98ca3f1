"""`python -m` for the program, or for the variant of it that `--variant MODULE:NAME` names."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, cast

from looptck_reference.program.program import Program, arguments


def main() -> int:
    """Run the program; its exit status."""
    given = arguments().parse_args()
    module, _, name = (given.variant or "").partition(":")
    kind = _variant(module, name) if module else Program
    return kind(given).main()


def _variant(module: str, name: str) -> type[Program]:
    found: Any = import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return cast("type[Program]", found)


if __name__ == "__main__":
    sys.exit(main())
