"""Writes the types of the protocol into the declarations of the JavaScript package.

    PYTHONPATH=spec_tests python -m tools.javascript_types

They are those of the schemas in ``fixtures/protocol/``. A test of the package compares them; run this when they differ.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.javascript_types.types import written

DECLARATIONS = Path(__file__).parents[3] / "drivers" / "javascript" / "looptck-driver.d.mts"


def main() -> int:
    """Rewrite the declarations."""
    DECLARATIONS.write_text(written(DECLARATIONS.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
