"""The secrets that are planted: those of the tests, as their issuers write them, and one of each rule that has none."""

from __future__ import annotations

import random
import re

from looptck.cassettes.secrets import kinds as rules
from meta.recording.planted import Planted, kinds
from tools.planted.examples import example


def planted() -> dict[str, Planted]:
    """A secret of each kind by a name; the same in every run."""
    issued = kinds()
    drawn = random.Random(20)  # noqa: S311  nothing is kept secret by it
    found = {f"{number:03} {one.text.splitlines()[0][:14]}": one for number, one in enumerate(issued)}
    for name, rule in rules().items():
        if not any(re.search(rule, one.text) for one in issued):
            found[f"{len(found):03} {name}"] = example(rule, drawn)
    return found
