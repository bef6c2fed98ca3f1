"""Commands of looptck, run in this process."""

from __future__ import annotations

from click.testing import CliRunner

from looptck.cli.group import main


def run(*words: str) -> tuple[int, str]:
    """Exit status and output of a command."""
    done = CliRunner().invoke(main, words)
    return done.exit_code, done.output
