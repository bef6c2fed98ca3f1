"""The judge in an environment with its declared dependencies and no others.

    ENVIRONMENT/bin/python spec_tests/meta/wheel/bare.py

Every module that needs no extra is imported, a loop is judged by one process and by two, and what needs an extra says
which.
"""

from __future__ import annotations

import importlib
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rooms import ROOMS, extra_of  # type: ignore[import-not-found]  # beside this file

import looptck
from looptck.catalogue.data import page
from looptck.catalogue.extras import missing
from looptck.provider.otlp_read import spans

BIN = Path(sys.executable).parent
HERE = Path(__file__).parent
WHEEL = Path(looptck.__file__).parent
JUDGED = ("every-call-of-a-turn-runs", "results-carry-their-call-ids")
REFUSED = {
    "looptck run": ("The reference loop", "reference"),
    "looptck run --profile server-loop": ("The reference loop", "reference"),
    "looptck run --driver server:http://127.0.0.1:1": ("A server under test", "server"),
    "looptck kill": ("The reference loop", "reference"),
    "looptck record --upstream openai": ("Recording", "record"),
    "looptck-reference serve --upstream http://127.0.0.1:1": ("The reference server", "reference"),
}
"""What a command says to need, and the extra that brings it."""


def main() -> None:
    """Fails with an exception."""
    assert (WHEEL / "_data").is_dir(), f"{WHEEL} is a checkout, not the wheel"
    assert page("driver-in-ten-minutes.md").is_file(), "the wheel lacks the documentation"
    for extra in {*ROOMS.values()} - {""}:
        assert missing(extra), f"this environment is not bare: it has the extra {extra}"
    names = [*modules()]
    for name in names:
        importlib.import_module(name)
    assert spans(b"", "application/x-protobuf", "") == []
    print(f"{len(names)} modules are imported")
    driver = f"cmd:{sys.executable} -m looptck.driver {HERE / 'loop.py'}:Driver"
    requirements = [word for id in JUDGED for word in ("--requirement", id)]
    with tempfile.TemporaryDirectory() as folder:
        for words in (["smoke"], ["run", "-q", *requirements], ["run", "-q", "-j", "2", *requirements]):
            run(folder, ["looptck", *words, "--driver", driver], 0)
        for line, (what, extra) in REFUSED.items():
            printed = run(folder, line.split(), 2)
            assert re.fullmatch(
                rf"(looptck could not run|Error): {what} needs .*: pip install 'looptck\[{extra}\]'\n", printed
            )


def modules() -> Iterator[str]:
    """The names of those that need no extra."""
    for path in sorted(WHEEL.rglob("*.py")):
        name = ".".join(path.relative_to(WHEEL.parent).with_suffix("").parts).removesuffix(".__init__")
        if extra_of(name) == "":
            yield name


def run(folder: str, words: list[str], status: int) -> str:
    """What a command of the environment prints, which ends with this status."""
    words = [str(BIN / words[0]), *words[1:]]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    print(shlex.join(words), done.stdout + done.stderr, sep="\n")
    assert status == done.returncode, f"exit status {done.returncode}, not {status}"
    return done.stdout + done.stderr


if __name__ == "__main__":
    main()
