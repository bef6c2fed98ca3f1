"""The page of a matrix: everything is named, marked and escaped, and nothing has to be fetched."""

from __future__ import annotations

import re

import pytest

from looptck.commands.kill.columns import Column
from looptck.commands.kill.marks import Mark, mark_of
from looptck.commands.kill.matrix import Matrix
from looptck.commands.kill.page import LONGEST, headline, page, prose, sheets
from meta.kill.making import column, failed, killed, matrix, mutant, played, requirement

BENT = mutant("bent", "one", collateral={"two": "it leans on one"})
MIXED = matrix(
    column(BENT, *failed("one", "two", "three"), played("four", "not-reached")),
    killed("only", "four"),
    column(mutant("blunt", "three")),
    requirements=[
        *(requirement(id) for id in ("one", "two", "three", "four")),
        requirement("five", no_mutant="no loop can tell whether it does"),
    ],
)


def marks_in(text: str) -> set[tuple[str, str]]:
    """The marks of the matrices in a page: class and what the title names first."""
    return set(re.findall(r'<td><a class="([a-z]+)"[^>]* title="([^\n&]+)', text))


def test_page_names_everything() -> None:
    """Each mutant and each requirement stands at the head of a line, and has a place that an address can point to."""
    text = page(MIXED)
    places = [f'id="mutant-{one.mutant.name}"' for one in MIXED.columns]
    places += [f'id="requirement-{row.requirement.id}"' for row in MIXED.rows]

    assert [1] * len(places) == [text.count(place) for place in places]
    assert [] == [place for place in places if f'href="#{place[4:]}' not in text]


def test_every_address_in_the_page_has_a_place() -> None:
    """No link of the page leads nowhere, but for the one that closes what lies over it."""
    text = page(MIXED)

    assert {"_"} == set(re.findall(r'href="#([^"]+)"', text)) - set(re.findall(r'id="([^"]+)"', text))


def test_marks_have_their_classes() -> None:
    """An expected failure, collateral, noise and what was missed differ."""
    wanted = {
        ("kill", "bent · one"),
        ("also", "bent · two"),
        ("noise", "bent · three"),
        ("missed", "blunt · three"),
        ("alone", "only · four"),
    }

    assert wanted == marks_in(page(MIXED))
    assert 1 == page(MIXED).count('<td class="unreached">')


@pytest.mark.parametrize(
    ("one", "marks"),
    [
        (column(BENT, *failed("one")), (Mark.ALONE, None)),
        (column(BENT, *failed("one", "two")), (Mark.KILL, Mark.ALSO)),
        (column(BENT, *failed("one"), played("two", "fail", crash="KeyError")), (Mark.ALONE, Mark.ALSO)),
        (column(BENT, *failed("one"), played("two", "not-reached")), (Mark.ALONE, Mark.UNREACHED)),
        (column(BENT, *failed("one"), full=True), (Mark.ALONE, Mark.MISSED)),
        (column(BENT, played("one", "fail", crash="KeyError")), (Mark.MISSED, None)),
        (column(BENT, played("one", "not-reached")), (Mark.MISSED, None)),
        (column(BENT, trouble="it hangs"), (Mark.MISSED, None)),
    ],
)
def test_mark_says_what_became_of_a_requirement(one: Column, marks: tuple[Mark | None, Mark | None]) -> None:
    """One is what the mutant breaks, and two its collateral."""
    assert marks == (mark_of(one, "one"), mark_of(one, "two"))


@pytest.mark.parametrize("where", ["fault", "also", "reason", "text", "excuse", "trouble"])
def test_markup_is_escaped(where: str) -> None:
    """Nothing that a loop has said or a person written becomes markup."""
    evil = {where: "</td><script>\"'&"}
    one = mutant("bent", "one", collateral={"two": evil.get("also", "why")}, fault=evil.get("fault", "what"))
    checks = [played(id, "fail", evil.get("reason", "so")) for id in ("one", "two")]
    rows = [requirement("one", text=evil.get("text", "It does.")), requirement("two", no_mutant=evil.get("excuse"))]
    text = page(matrix(column(one, *checks, trouble=evil.get("trouble", "")), requirements=rows))

    assert "<script" not in text
    assert "&lt;/td&gt;&lt;script&gt;&#34;&#39;&amp;" in text


def test_diagonal_shows() -> None:
    """Mutants stand in the order of the first requirement that they break."""
    (sheet,) = sheets(
        matrix(killed("late", "two"), killed("early", "one"), requirements=[requirement(id) for id in ("one", "two")])
    )

    assert ["early", "late"] == [head.column.mutant.name for head in sheet.heads]
    assert [[Mark.ALONE, None], [None, Mark.ALONE]] == [[span.mark for span in line.spans] for line in sheet.lines]


def test_each_profile_has_its_matrix() -> None:
    """Requirements of two profiles stand in two matrices, and only their mutants with them."""
    other = column(mutant("other", "two", profile="another"), *failed("two"))
    found = matrix(
        killed("bent", "one"), other, requirements=[requirement("one"), requirement("two", profile="another")]
    )

    assert [("core", ["one"], ["bent"]), ("another", ["two"], ["other"])] == [
        (sheet.profile, [line.id for line in sheet.lines], [head.column.mutant.name for head in sheet.heads])
        for sheet in sheets(found)
    ]


def test_narrowed_matrix_shows_what_its_mutants_met() -> None:
    """Where only some mutants were judged, the rows are what they broke and what fell with it."""
    narrowed = Matrix([column(BENT, *failed("one", "two"))], [], MIXED.made)
    (sheet,) = sheets(narrowed)

    assert ["one", "two"] == [line.id for line in sheet.lines]
    assert 'id="requirement-two"' in page(narrowed)


def test_excuse_stands_in_its_row() -> None:
    """A requirement that no mutant can break says why, across the matrix."""
    assert '<td class="excuse" colspan="3"><span>no loop can tell whether it does</span>' in page(MIXED)


def test_case_that_nothing_fails_is_named() -> None:
    """A requirement's part of the page names the cases that no mutant has failed, and the head counts them."""
    text = page(matrix(killed("bent", "one"), cases={"one": ["a-case", "a<b>"]}))

    assert "No mutant fails 1 of the 2 cases: a&lt;b&gt;</p>" in text
    assert "<dt>cases failed</dt><dd>1 <span>of 2</span></dd>" in text


def test_line_to_paste_stands_with_its_mutant() -> None:
    """A mutant's part of the page ends with the command that judges it again."""
    assert "<code>looptck kill --mutant blunt</code>" in page(MIXED)


def test_page_fetches_nothing() -> None:
    """No script, no style sheet, no image and no font come from elsewhere."""
    assert [] == re.findall(r"<(?:script|link|img|iframe)|@import|url\(| src=", page(MIXED))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (matrix(killed("bent", "one")), "Every requirement has been shown to fail"),
        (
            matrix(killed("bent", "one"), requirements=[requirement("one"), requirement("two", no_mutant="why")]),
            "Every requirement except 1 has been shown to fail",
        ),
        (matrix(column(mutant("bent", "one")), requirements=[requirement("one")]), "2 things need a fix"),
        (matrix(killed("bent", "one"), disagreements=["one: why"]), "One thing needs a fix"),
        (Matrix([killed("bent", "one")], [], MIXED.made), "The mutant fails as declared"),
    ],
)
def test_headline_says_what_came_out(found: Matrix, said: str) -> None:
    """The first line is about what is to be mended, and else about what is proven."""
    assert said == headline(found)


def test_long_reason_is_shortened() -> None:
    """A reason without end does not fill the page."""
    text = page(matrix(column(BENT, played("one", "fail", "x" * 9999))))

    assert LONGEST > max(len(run) for run in re.findall("x+", text.split("</section>", 1)[1]))


def test_words_between_backticks_are_code() -> None:
    """A lone backtick stays what it is."""
    assert ["a <code>&lt;b&gt;</code> c", "a ` b"] == [str(prose("a `<b>` c")), str(prose("a ` b"))]
