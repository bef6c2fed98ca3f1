"""Our provider as a process of its own: for each line that says wire and text, opens a stage and prints its URL.

The stage before is closed. The judge is on, as it always is.
"""

from __future__ import annotations

import json
import sys

from looptck.provider.mock_run import MockRun
from looptck.provider.script import Script, Step
from looptck.provider.server import Provider
from looptck.provider.toolbox import Toolbox
from looptck.values.turns import says
from looptck.wires import WIRES


def saying(wire: str, text: str) -> MockRun:
    """A stage whose every turn is this text."""
    step = Step(says(text))
    return MockRun(WIRES[wire], Script(endless=lambda _: step, most=sys.maxsize), Toolbox())


if __name__ == "__main__":
    with Provider() as provider:
        open_now: list[MockRun] = []
        for line in sys.stdin:
            mock_run = saying(*json.loads(line))
            print(provider.open(mock_run), flush=True)
            open_now.append(mock_run)
            if len(open_now) > 1:
                provider.close(open_now.pop(0))
