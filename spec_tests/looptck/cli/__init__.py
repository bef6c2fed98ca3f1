"""The command ``looptck``."""

from __future__ import annotations

import sys

GUARDED = frozenset({"run", "smoke", "baseline", "coverage", "kill"})
"""The commands that run drivers and loops."""


def entry() -> None:
    """Run the command line; one that runs drivers and loops does so in a process of its own, under a guard."""
    from looptck.guard import playing

    words = sys.argv[1:]
    if words[:1] and words[0] in GUARDED and any(map(_names_a_program, words)):
        _cut_off()
    if not playing.begin() and words[:1] and words[0] in GUARDED and not {"-h", "--help"} & {*words}:
        from looptck.guard.watching import watch

        sys.exit(watch(words))
    from looptck.guard.importing import importing

    with importing():
        from looptck.cli.group import main
    try:
        main()
    except SystemExit as end:
        if not playing.has_noted():  # a word that is no option, say
            playing.finish(end.code if isinstance(end.code, int) else 2)
        raise


def _names_a_program(word: str) -> bool:
    return word.removeprefix("--driver=").startswith("program:") or word in {"program", "--profile=program"}


def _cut_off() -> None:
    """Leave every network but loopback, for the programs under test; say so where the system does not allow it."""
    from looptck.guard.network import cut_off, is_cut_off

    if not is_cut_off() and (why := cut_off()) is not None:
        sys.stderr.write(f"programs are not cut off the network, all proxies lead nowhere: {why}\n")
