"""The table of traits: a line for each answer, and its cells if not all cells have the same answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import product

from rich.table import Table
from rich.text import Text

from looptck.catalogue.traits import UNDECIDED, Answer, traits

STYLES = {"error": "bold magenta", "no-outcome": "red", "not-reached": "red"}
"""Styles of the results that are not answers of the trait itself."""


def table(title: str, answers: Iterable[Answer]) -> Table:
    """The table of a loop's answers; traits that do not apply in any cell are listed in the caption."""
    given: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        given[answer.trait].append(answer)
    shown = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold", expand=True)
    shown.add_column("trait", no_wrap=True)
    shown.add_column("answer", no_wrap=True)
    shown.add_column("where", max_width=30)
    shown.add_column("detail", no_wrap=True, overflow="ellipsis", ratio=1)
    topic, inapplicable = "", list[str]()
    for trait in traits():
        lines = list(_lines(given.get(trait.id, [])))
        if trait.id in given and not lines:
            inapplicable.append(trait.id)
        if lines and trait.topic != topic:
            topic = trait.topic
            shown.add_row(Text(topic, style="bold underline"))
        for place, (word, cells, detail) in enumerate(lines):
            answer_text = Text(word, STYLES.get(word, "cyan"))
            shown.add_row("" if place else trait.id, answer_text, cells, Text(detail, "dim"))
    if inapplicable:
        shown.caption = f"not applicable in any cell: {', '.join(inapplicable)}"
        shown.caption_justify = "left"
    return shown


def brief(answers: Iterable[Answer]) -> Iterator[str]:
    """The answers in a few lines, without details: a paragraph for each topic."""
    given: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        given[answer.trait].append(answer)
    by_topic: dict[str, list[str]] = defaultdict(list)
    for trait in traits():
        decided = [answer for answer in given.get(trait.id, []) if answer.answer not in UNDECIDED]
        words = [f"{word} ({cells})" if cells else word for word, cells, _ in _lines(decided)]
        if words:
            by_topic[trait.topic].append(f"{trait.id}: {', '.join(words)}")
    yield from (f"{topic}. {'; '.join(texts)}" for topic, texts in by_topic.items())


def counts(answers: Collection[Answer]) -> str:
    """The counts of answers and of undecided questions, as text."""
    undecided = Counter(answer.answer for answer in answers if answer.answer in UNDECIDED)
    counted = [f"{count} {word}" for word in UNDECIDED if (count := undecided[word])]
    of = len({answer.trait for answer in answers})
    return ", ".join([f"{of} traits, recorded, not judged: {len(answers) - undecided.total()} answers", *counted])


def _lines(answers: Iterable[Answer]) -> Iterator[tuple[str, str, str]]:
    """Each answer with its cells and its most common detail, the most common answer first."""
    by: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        if answer.answer != "not-applicable":
            by[answer.answer].append(answer)
    every = {answer.cell for same in by.values() for answer in same}
    for word, same in sorted(by.items(), key=lambda one: -len(one[1])):
        details = Counter(one.detail for one in same)
        yield word, ", ".join(where({one.cell for one in same}, every)), details.most_common(1)[0][0]


def where(some: Collection[str], every: Collection[str]) -> list[str]:
    """Patterns that describe some cells out of all, in as few words as possible: ``stream`` means every stream cell.

    The result is empty if they are all cells.
    """
    left, words = set(some), list[str]()
    parts = [cell.split("/") for cell in sorted(some)]
    axes = [["*", *dict.fromkeys(part[axis] for part in parts)] for axis in range(3)]
    covers = {
        pattern: covered
        for pattern in product(*axes)
        if (covered := {cell for cell in every if fnmatchcase(cell, "/".join(pattern))}) <= set(some)
    }
    while left:
        pattern = max(covers, key=lambda one: (len(covers[one] & left), one.count("*"), one[0] != "*"))
        left -= covers[pattern]
        words.append("/".join(part for part in pattern if part != "*"))
    return [word for word in words if word]
