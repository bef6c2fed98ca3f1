"""The lines of an event stream: its line ends, fields, comments, and characters that are cut."""

from __future__ import annotations

import pytest

from looptck.bench.checks import Implementation, on, requirement
from looptck.provider.script import Step
from looptck.spec.framed_turns import PLAIN_CALL, played, runs_its_calls
from looptck.values.framing import DEFAULT, PRESETS, Framing
from looptck.values.plain import plain
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached


@requirement("crlf-line-ends-are-read")
@pytest.mark.parametrize("framing", ["crlf", "single-bytes-crlf"])
def test_crlf(implementation: Implementation, framing: str) -> None:
    """Lines end in CRLF, which may be cut in the middle."""
    runs_its_calls(implementation, PRESETS[framing], PLAIN_CALL)


@requirement("cr-line-ends-are-read")
def test_cr(implementation: Implementation) -> None:
    """Lines end in CR."""
    runs_its_calls(implementation, PRESETS["cr"])


@requirement("comments-are-skipped")
def test_comments(implementation: Implementation) -> None:
    """A comment precedes every event, as a keep-alive."""
    runs_its_calls(implementation, PRESETS["comments"])


@requirement("other-fields-are-skipped")
def test_other_fields(implementation: Implementation) -> None:
    """Every event has the fields event, id and retry."""
    runs_its_calls(implementation, PRESETS["event-names"])


@requirement("comments-after-ids-are-skipped")
def test_comments_after_ids(implementation: Implementation) -> None:
    """Every event has an id, and a comment with its own empty line comes between them."""
    runs_its_calls(implementation, PRESETS["event-names"].but(comments=True))


@requirement("space-after-colon-is-optional")
def test_no_space(implementation: Implementation) -> None:
    """No space follows the colon."""
    runs_its_calls(implementation, PRESETS["no-space"])


@requirement("data-lines-are-joined")
def test_data_lines(implementation: Implementation) -> None:
    """The JSON of an event is spread over several data lines."""
    runs_its_calls(implementation, PRESETS["data-lines"])


@requirement("byte-order-mark-is-skipped")
@pytest.mark.parametrize("torn", [False, True], ids=["whole", "torn"])
def test_byte_order_mark(implementation: Implementation, torn: bool) -> None:
    """The stream begins with a byte order mark, which may be torn; its first event is not lost."""
    framing = PRESETS["byte-order-mark"].but(torn=torn)
    if implementation.cell.wire == "openai-chat":  # the loss of a first event without content would not be noticed
        framing = framing.but(one_delta=True, calls_first=True)
    runs_its_calls(implementation, framing)


@requirement("line-separators-in-text-survive")
@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\u000b", "\u000c", "\u001c"])
def test_line_separators(implementation: Implementation, separator: str) -> None:
    """The arguments contain an unescaped character that JSON allows and some readers treat as a line end."""
    runs_its_calls(implementation, DEFAULT, calls(Call.of("note", {"text": f"a{separator}b"})))


@requirement("bytes-may-be-cut-anywhere")
@pytest.mark.parametrize("framing", ["single-bytes", pytest.param("single-bytes-crlf", marks=on("*/stream/*"))])
def test_single_bytes(implementation: Implementation, framing: str) -> None:
    """Every write is one byte."""
    _reads_its_lines(implementation, framing)
    runs_its_calls(implementation, PRESETS[framing])


@requirement("bytes-may-be-cut-anywhere")
@pytest.mark.parametrize("framing", ["torn", pytest.param("torn-crlf", marks=on("*/stream/*"))])
def test_torn(implementation: Implementation, framing: str) -> None:
    """The reply is torn inside characters and escapes, and goes on only when the loop has read what it was sent."""
    _reads_its_lines(implementation, framing)
    runs_its_calls(implementation, PRESETS[framing])


@requirement("bytes-may-be-cut-anywhere")
@on("*/stream/*")
def test_cut_line_ends(implementation: Implementation) -> None:
    """Every write is one byte, and a CRLF that is cut stands between two data lines of one event."""
    joined = PRESETS["data-lines"].but(newline="\r\n")
    whole = played(implementation, joined, PLAIN_CALL)
    whole.delivered(1)
    if not whole.ran:
        raise NotApplicable("the loop does not read the data lines of an event as one (data-lines-are-joined)")

    runs_its_calls(implementation, joined.but(every=1), PLAIN_CALL)


BEYOND = "Es ist gut: Łódź, Zürich, 東京."


@requirement("bytes-may-be-cut-anywhere")
@on("*/stream/*")
def test_torn_answer(implementation: Implementation) -> None:
    """An answer beyond ASCII that is torn inside its characters arrives, as it does in one piece."""
    if BEYOND not in _answered(implementation, DEFAULT):
        raise NotReached("an answer beyond ASCII does not arrive, although no character of it is cut")

    torn = _answered(implementation, PRESETS["torn"])

    assert BEYOND in torn, f"the answer {plain(BEYOND)} is torn inside its characters, and arrives as {plain(torn)}"


def _answered(implementation: Implementation, framing: Framing) -> str:
    """The answer that the caller gets. Raises NotReached if there is none."""
    implementation.scenario.plays(Step(says(BEYOND), framing))
    return implementation.run().value.text or ""


def _reads_its_lines(implementation: Implementation, framing: str) -> None:
    """Raise NotReached unless the loop runs the call of a stream whose lines end alike, and which is not cut."""
    if framing.endswith("-crlf") and not played(implementation, PRESETS["crlf"], PLAIN_CALL).ran:
        raise NotReached("the call of a stream in one piece, whose lines end in CRLF, did not run")
