"""Our provider as a process of its own: for each line that says wire and text, opens a stage and prints its URL.

The stage before is closed. The judge is on, as it always is.
"""

from __future__ import annotations

import json
import sys

from looptck.provider.script import Script, Step
from looptck.provider.server import Provider
from looptck.provider.stage import Stage
from looptck.provider.toolbox import Toolbox
from looptck.turns import says
from looptck.wires import WIRES


def saying(wire: str, text: str) -> Stage:
    """A stage whose every turn is this text."""
    step = Step(says(text))
    return Stage(WIRES[wire], Script(endless=lambda _: step, most=sys.maxsize), Toolbox())


if __name__ == "__main__":
    with Provider() as provider:
        open_now: list[Stage] = []
        for line in sys.stdin:
            stage = saying(*json.loads(line))
            print(provider.open(stage), flush=True)
            open_now.append(stage)
            if len(open_now) > 1:
                provider.close(open_now.pop(0))
