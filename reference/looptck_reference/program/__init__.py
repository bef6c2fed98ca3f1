"""A small command-line agent around the loop: a prompt in, the answer on standard output, and one tool of its own.

    python -m looptck_reference.program --base-url http://127.0.0.1:8000/v1 --key KEY "Write it down."

Its tool appends a line to a file; `--tools URL` adds those of a server that speaks the Model Context Protocol. It ends
with the status 0 if it has an answer, with 3 if the answer is incomplete, and with 1 if there is none; the reason is on
standard error.
"""

from __future__ import annotations

from looptck_reference.program.program import Equipped, Program

__all__ = ["Equipped", "Program"]
