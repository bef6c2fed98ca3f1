"""`python -m` for the command line."""

from __future__ import annotations

from looptck_reference.server.cli import main

main(prog_name="looptck-reference")
