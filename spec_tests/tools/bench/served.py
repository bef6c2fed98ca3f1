"""The provider in its own process: for each line with wire and text it opens a mock run and prints its URL.

The previous mock run is closed. Requests are judged, as always.
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
    """A mock run whose turns all have this text."""
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
