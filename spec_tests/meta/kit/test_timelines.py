"""What happened in a run, as a failure tells it: an event a line, and what belongs together in one line."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from looptck.bench.checks import Check
from looptck.bench.run import Run
from looptck.catalogue.requirements import catalogue
from looptck.failures.failure import MOST_EVENTS, render_failure
from looptck.values.cell import Cell
from looptck.values.outcome import Value
from looptck.values.transcript import Chunk, Ended, Event, Replied, ToolBegan, Transcript
from looptck.values.verdicts import Result

CELL = Cell("openai-chat", True, "sync")
DONE = Value("Done.", "end")


def told(events: Sequence[Event]) -> list[str]:
    """The lines of what happened, without their times."""
    row = catalogue()["call-runs-its-tool-once"]
    result = Result(row.id, "core", "MUST", str(CELL), "a-case", "fail", "because")
    run = Run("r1", CELL, (("user", "Go."),), {}, Transcript(events=[*events, Ended(9.0, DONE)]), DONE)
    text = render_failure(Check(row, CELL, "a-case"), result, run, "looptck run")
    lines = text.partition("what happened, in ms (run r1):\n")[2].splitlines()[:-1]
    return [re.sub(r"^ +(?:[\d.]+  )?", "", line) for line in lines]


def chunks(at: float, *texts: str) -> list[Event]:
    """Chunks, a millisecond apart."""
    return [Chunk(at + place / 1000, text) for place, text in enumerate(texts)]


def test_chunks_share_a_line() -> None:
    """Those between which nothing else happened are counted, and their borders stay visible."""
    lines = told([*chunks(1, "It ", "is", " warm."), ToolBegan(2, 1, "ping", {}), *chunks(3, "Done.")])

    assert [
        "the caller receives 3 chunks in 2.0 ms: 'It ' 'is' ' warm.'",
        "tool run 1 begins: ping({})",
        "the caller receives 'Done.'",
        "the loop returned 'Done.', with the stop reason end",
    ] == lines


def test_many_chunks_are_one_line_and_not_many() -> None:
    """What a long answer comes in leaves place for the other events."""
    (line, _) = told(chunks(1, *"It is warm in Paris, and it will stay so until the evening." * 4))

    assert line.startswith("the caller receives 236 chunks in 235.0 ms: 'I' 't' ' ' 'i'")
    assert 200 > len(line)


def test_what_is_omitted_is_omitted_where_it_was() -> None:
    """The note is between the first events and the last."""
    lines = told([ToolBegan(n, n, "ping", {}) for n in range(60)])

    half = MOST_EVENTS // 2
    assert "tool run 0 begins: ping({})" == lines[0]
    assert "(21 events in the middle are omitted)" == lines[half]
    assert MOST_EVENTS + 1 == len(lines)


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ((), "429, an error"),
        ((("retry-after", "-1"),), "429, an error, with retry-after '-1'"),
        ((("retry-after-ms", "5"), ("x", "")), "429, an error, with retry-after-ms '5' and x ''"),
    ],
)
def test_a_reply_has_the_headers_of_the_script(headers: tuple[tuple[str, str], ...], words: str) -> None:
    """They may be what a loop goes wrong on."""
    reply = Replied(1, 2, 429, "an error", headers=headers)

    assert (words, f"reply 2: {words}") == (reply.words, told([reply])[0])
