"""The command ``looptck``."""

from __future__ import annotations

import sys

GUARDED = frozenset({"run", "smoke", "baseline", "coverage", "kill"})
"""The commands that run drivers and loops."""


def entry() -> None:
    """Run the command line; one that runs drivers and loops does so in a process of its own, under a guard."""
    from looptck.guard import playing

    words = sys.argv[1:]
    if not playing.begin() and words[:1] and words[0] in GUARDED and not {"-h", "--help"} & {*words}:
        from looptck.guard.watching import watch

        sys.exit(watch(words))
    from looptck.cli.group import main

    try:
        main()
    except SystemExit as end:
        if not playing.has_noted():  # a word that is no option, say
            playing.finish(end.code if isinstance(end.code, int) else 2)
        raise
