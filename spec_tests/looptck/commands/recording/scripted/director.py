"""The director: the chat template, which looks at the conversation and ends the prompt in the turn that is due.

The last user message that is a scenario's question says which scenario it is; how often the assistant has spoken since
says which turn. Results that do not answer the calls, one for each and in their order, lead to an answer that says so:
what the server made of a request cannot be seen otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from looptck.commands.recording.scripted.scripts import Scenario

_TEMPLATE = Path(__file__).with_name("director.jinja")


def template(scenarios: Sequence[Scenario]) -> str:
    """The template that directs these scenarios: name and number of turns, by question."""
    turns = {scenario.question: [scenario.name, len(scenario.turns)] for scenario in scenarios}
    return _TEMPLATE.read_text(encoding="utf-8").replace("TURNS", json.dumps(turns, ensure_ascii=False), 1)
