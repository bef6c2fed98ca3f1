"""A request without tools and the whole prompt is beside the script, unless it has the question and a tool's result."""

from __future__ import annotations

import pytest

from looptck.provider.toolbox import Returns
from looptck.values.turns import says
from meta.provider.mock_runs import mock_run, parsed_reply, reply


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Observation: 21 degrees. Answer this: Go.", b"Warm."),
        ("Sum up what happened: 21 degrees.", b"Fine."),
        ("Find a title.", b"Fine."),
    ],
)
def test_a_history_as_text_belongs_to_the_loop(text: str, wanted: bytes) -> None:
    """A loop that writes its history as text may ask with it for a last answer; a title and a summary are its own."""
    run = mock_run(says("Warm."), weather=[Returns("21 degrees")])
    run.prompt = ["Use the tools.", "Go."]
    reply(run, {"arguments": {"city": "Paris"}}, "/c1/tools/weather")

    answer = reply(run, {"model": "m", "messages": [{"role": "user", "content": text}]})

    assert wanted in parsed_reply(answer)[2]
