"""The words for causes: in blocks, and in lines of which each says the whole reason."""

from __future__ import annotations

from dataclasses import replace

from looptck.failures.blocks import AGAIN, MOST_LINES, REASON, WIDTH, blocks, one_line_each, where, wrapped
from looptck.failures.causes import Cause, causes, patterns
from meta.kit.causing import CHAT, ENDED, LOST, MESSAGES, PLAIN, ROWS, STREAM, finding, row


def test_cells_are_told_by_the_fewest_patterns() -> None:
    """All, a wire, plain or stream of a wire, or the cell itself."""
    every = [*CHAT, *MESSAGES]

    assert ["*"] == patterns(every, every)
    assert ["openai-chat/*/*"] == patterns(CHAT, every)
    assert ["anthropic-messages/plain/sync", "openai-chat/stream/*"] == patterns([MESSAGES[0], *CHAT[2:]], every)
    assert [PLAIN] == patterns([PLAIN], [PLAIN])
    assert "openai-chat/* (4 cells)" == where(CHAT, every)


def many(count: int) -> list[Cause]:
    """So many causes, each with two rows."""
    ids = [f"row-{n}" for n in range(count)]
    ROWS.update({id: row(id) for id in ids})
    found = [finding(name, ("refused", id), run=id) for id in ids for name in (id, "whole")]
    return causes(found, ROWS)


def test_many_causes_are_told_in_short() -> None:
    """Every block names its row, why, who noticed and how to see it again, and all of them fit on a few pages."""
    told = blocks(many(23), [PLAIN])

    assert MOST_LINES >= sum(len(lines) + 1 for lines in told)
    for lines in told:
        assert [] == [word for word in ("because", "also", "again") if not any(word in line for line in lines)]


def test_very_many_causes_are_told_in_lines() -> None:
    """The last of them have a line and what to paste, and none is left out."""
    told = blocks(many(40), [PLAIN])

    assert MOST_LINES >= sum(len(lines) + 1 for lines in told)
    assert ["FAIL  row-39  [openai-chat/plain/sync]  because of row-39", f"{AGAIN}again"] == told[-1]
    assert 40 == len(told)


def test_lines_fit() -> None:
    """Long words about a failure are broken at blanks; the line to paste is not, and says the same."""
    (cause,) = causes([finding("echo", LOST)], ROWS)
    cause.example.result.reason = "word " * 99 + "end"
    cause.example.again = "again " * 99
    cause.example.text = f"FAIL\n  because: {cause.example.result.reason}\n{AGAIN}{cause.example.again}"
    (long,), middling = blocks([cause], [PLAIN]), blocks([cause] * 3, [PLAIN])

    for lines in (long, *middling):
        assert [f"{AGAIN}{cause.example.again}"] == [line for line in lines if len(line) > WIDTH]
        assert "end" in " ".join(lines)
    for lines in blocks([cause] * 3, [PLAIN], 100):
        assert [f"{AGAIN}{cause.example.again}"] == [line for line in lines if len(line) > 100]


def test_a_block_names_the_word_that_excuses_a_loop() -> None:
    """Among several causes too, since a loop may do otherwise on purpose."""
    (cause,) = causes([finding("echo", LOST)], {"echo": replace(ROWS["echo"], unless=(("echo", "kept"),))})

    for lines in blocks([cause] * 3, [PLAIN]):
        assert '  not for loops that declare dialect.echo "kept"' in lines


def test_a_head_has_the_cells_of_its_own_requirement() -> None:
    """Where only other requirements fail that have the same cause is said with these."""
    found = causes([finding("leak", LOST), finding("order", LOST, cell=STREAM, run="r2")], ROWS)

    ((head, *more),) = blocks(found, [PLAIN, STREAM])

    assert f"FAIL  leak  [{PLAIN}]" == head
    assert f"  also fails: order (1 fail, {STREAM})" in more
    assert one_line_each(found, [PLAIN, STREAM])[0].startswith(f"FAIL  leak  [{PLAIN}]  ")


def test_a_line_has_the_whole_reason() -> None:
    """What decides may stand at its end, and only a reason of very many words is cut, behind a word."""
    (cause,) = causes([finding("echo", LOST)], ROWS)
    cause.example.result.reason = "expected [], got " + "word " * 60 + "end"
    (line,) = one_line_each([cause], [PLAIN])
    cause.example.result.reason = "word " * 999 + "end"
    (long,) = one_line_each([cause], [PLAIN])

    assert line.startswith("FAIL  echo  [openai-chat/plain/sync]  expected [], got word ")
    assert line.endswith("word end")
    assert long.endswith(" word …")
    assert REASON + 60 > len(long) > REASON


def test_a_line_says_what_ended_the_run() -> None:
    """A reason such as "no tool ran" does not show why; the error or the refusal behind it does."""
    (cause,) = causes([finding("echo", LOST)], ROWS)
    cause.example.ending = "the loop raised KeyError: 'choices' (reason: other)"

    (line,) = one_line_each([cause], [PLAIN])
    assert line.endswith("because of echo; the loop raised KeyError: 'choices' (reason: other)")


def test_a_line_names_what_else_fails() -> None:
    """One of the others may say more than the one that heads the line; what was not reached says nothing."""
    more = [finding(id, LOST) for id in ("order", "crlf", "bom", "whole")]
    (cause,) = causes([finding("leak", LOST), finding("answer", LOST, verdict="not-reached"), *more], ROWS)

    (line,) = one_line_each([cause], [PLAIN])
    assert line.endswith("because of leak  (also fails: order, crlf, bom, and 1 more)")


def test_lines_of_one_requirement_name_their_cases() -> None:
    """Several causes that one requirement heads are told apart; a requirement that heads one needs no more."""
    found = causes(
        [finding("echo", LOST), finding("echo", ("refused", "a-rule"), run="r2"), finding("leak", ENDED, run="r3")],
        ROWS,
    )
    found[1].example.result.case = "another-case"

    leak, *echo = one_line_each(found, [PLAIN])
    assert "FAIL  leak  [openai-chat/plain/sync]  because of leak" == leak
    assert ["(case: another-case)", "(case: echo-case)"] == sorted(line.split("  ")[3] for line in echo)


def test_a_line_is_wrapped_for_a_terminal() -> None:
    """At its width, between words."""
    lines = wrapped("FAIL  echo  [all 4 cells]  " + "word " * 60, 100)

    assert all(len(line) <= 100 for line in lines)
    assert {"    word"} == {line[:8] for line in lines[1:]}


def test_a_wrapped_line_hangs() -> None:
    """Its further lines stand deeper than its first."""
    first, *others = wrapped("  because: " + "word " * 60)

    assert first.startswith("  because: word")
    assert others
    assert {"      word"} == {line[:10] for line in others}
