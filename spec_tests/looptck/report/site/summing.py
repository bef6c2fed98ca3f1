"""Sums of a run for others' pages: a summary in Markdown for a CI job, and a badge. Neither is a score."""

from __future__ import annotations

from collections import Counter

from looptck.catalogue.requirements import IMPACTS, catalogue
from looptck.report.site.entries import WORDLESS, Entry
from looptck.report.site.rendering import render

COLOURS = {"unsafe": "#a31515", "broken": "#b3541e", "fragile": "#7a5d00", "untidy": "#566069", WORDLESS: "#566069"}
"""The colour of a badge, by the worst impact of what fails."""
CLEAN = "#0e7569"
LETTER = 6.6
"""The width of a letter of the badge's font, about, in pixels."""


def failing(entry: Entry) -> dict[str, int]:
    """How many requirements fail, by impact, the worst first; those that looptck has to mend do not count."""
    found: Counter[str] = Counter()
    for row in catalogue():
        if entry.standing(row.id).state in {"fail", "not-reached"}:
            found[row.impact or WORDLESS] += 1
    return {one: found[one] for one in (*IMPACTS, WORDLESS) if found[one]}


def markdown_summary(entry: Entry) -> str:
    """The run as Markdown: counts, and each cause with its requirement, its cells and whether it is known."""
    return render("summary.md.j2", entry=entry, failing=failing(entry))


def badge(entry: Entry) -> str:
    """An SVG picture: what fails, by impact, or that nothing does; and that not all was judged."""
    found = failing(entry)
    parts = [f"{count} {impact}" for impact, count in found.items()]
    parts = parts if entry.is_judged else [*parts, "not all judged" if parts else "not judged"]
    words = ", ".join(parts) or "nothing fails"
    colour = COLOURS[next(iter(found))] if found else CLEAN if entry.is_judged else COLOURS[WORDLESS]
    left, right = (round(len(text) * LETTER) + 12 for text in ("looptck", words))
    return render("badge.svg.j2", words=words, colour=colour, left=left, right=right)
