"""The command ``looptck``."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable

GUARDED = frozenset({"run", "smoke", "baseline", "coverage", "kill"})
"""The commands that run drivers and loops."""
PROXIES = frozenset({"http_proxy", "https_proxy", "all_proxy"})
"""Variables of the environment that name a proxy, in either case."""


def entry() -> None:
    """Run the command line; one that runs drivers and loops does so in a process of its own, under a guard."""
    from looptck.guard import playing

    words = sys.argv[1:]
    _reach_loopback()
    if words[:1] and words[0] in GUARDED and any(map(_names_a_program, words)):
        _cut_off()
    if not playing.begin() and words[:1] and words[0] in GUARDED and not {"-h", "--help"} & {*words}:
        from looptck.guard.watching import watch

        if (status := watch(words)) is not None:
            sys.exit(status)
        playing.begin()
    from looptck.guard.importing import importing

    with importing():
        from looptck.cli.group import main
    try:
        _run(main)
    except SystemExit as end:
        if not playing.has_noted():  # a word that is no option, say
            playing.finish(end.code if isinstance(end.code, int) else 2)
        raise


def _run(main: Callable[[], object]) -> None:
    """Run a command. One that breaks off has not been able to run: its status is none that means findings."""
    from looptck.guard import playing

    try:
        try:
            main()
        finally:
            playing.output().flush()
    except OSError as error:
        if error.filename is not None:
            raise SystemExit(_could_not_run(f"{error.filename}: {error.strerror}")) from error
        is_read = playing.is_read()
        playing.mute()
        if not is_read:  # as by ``| head``: whoever reads has enough
            playing.finish(2)
            raise SystemExit(2) from None
        raise SystemExit(_could_not_run(f"the output cannot be written: {error.strerror or error}")) from error
    except Exception as error:
        traceback.print_exc()
        raise SystemExit(2) from error


def _could_not_run(why: str) -> int:
    sys.stderr.write(f"looptck could not run: {why}\n")
    return 2


def _names_a_program(word: str) -> bool:
    return word.removeprefix("--driver=").startswith("program:") or word in {"program", "--profile=program"}


def _reach_loopback() -> None:
    """Let clients that obey a proxy of the environment reach the provider, which no proxy can."""
    if any(name.lower() in PROXIES for name in os.environ):
        for name in ("NO_PROXY", "no_proxy"):
            os.environ[name] = ",".join(filter(None, (os.environ.get(name), "127.0.0.1")))


def _cut_off() -> None:
    """Leave every network but loopback, for the programs under test; say so where the system does not allow it."""
    from looptck.guard.network import cut_off, is_cut_off

    if not is_cut_off() and (why := cut_off()) is not None:
        sys.stderr.write(f"programs are not cut off the network, all proxies lead nowhere: {why}\n")
