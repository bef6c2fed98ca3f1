"""Building: the folder of a site from its entries, written as a whole or not at all."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

from looptck.catalogue.families import Family, families
from looptck.catalogue.requirements import IMPACTS, Requirement
from looptck.catalogue.traits import Trait, traits
from looptck.catalogue.yaml_files import BadFile
from looptck.report.comparing import SILENT, comparison
from looptck.report.site.entries import MEANINGS, WORDLESS, Entry, shortest, slug
from looptck.report.site.rendering import FOLDER, render
from looptck.values.frozen import dataclass

MARK = "looptck-site.txt"
"""The file that makes a folder one of this command's."""
STATIC = ("style.css", "filter.js", "compare.js")


@dataclass(frozen=True)
class Site:
    """What the pages of a site are made of."""

    entries: Sequence[Entry]
    kit: str
    """The version of looptck that builds it."""
    pages: Mapping[str, str]
    """Further pages as Markdown, by their titles."""

    @cached_property
    def judged(self) -> list[Entry]:
        """The entries with results."""
        return [entry for entry in self.entries if entry.data is not None]

    @cached_property
    def families(self) -> list[Family]:
        """Those of which some entry has a verdict."""
        return [one for one in families() if any(entry.tally(one).judged for entry in self.judged)]

    @cached_property
    def requirements(self) -> list[Requirement]:
        return [row for family in self.families for row in family.requirements]

    @cached_property
    def traits(self) -> list[Trait]:
        """Those that some entry answers."""
        asked = {id for entry in self.judged for id in entry.answers}
        return [one for one in traits() if one.id in asked]

    @cached_property
    def versions(self) -> list[tuple[Entry, Entry]]:
        """The pairs of versions of one implementation, the older one first."""
        by_name: dict[str, list[Entry]] = {}
        for entry in self.judged:
            by_name.setdefault(entry.name, []).append(entry)
        return [pair for alike in by_name.values() for pair in combinations(sorted(alike, key=_age), 2)]


def build(site: Site, folder: Path) -> list[Path]:
    """Write the site into a folder, in place of an earlier one; returns the pages.

    Raises:
        BadFile: the folder holds other files than a site, or cannot be written.
    """
    made = prepared(folder)
    try:
        for name, text in _files(site):
            path = made / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        shutil.rmtree(folder.resolve(), ignore_errors=True)
        made.rename(folder.resolve())
    except OSError as error:
        raise BadFile(folder, f"cannot be written: {error.strerror or error}") from error
    return sorted(folder.rglob("*.html"))


def prepared(folder: Path) -> Path:
    """The empty folder beside this one that a site is made in; call it before anything is played.

    Raises:
        BadFile: the folder holds other files than a site, or cannot be written.
    """
    whole = folder.resolve()
    try:
        if whole.exists() and any(whole.iterdir()) and not (whole / MARK).is_file():
            raise BadFile(folder, "holds other files than a site of looptck; name another folder")
        made = whole.with_name(f".{whole.name}.new")
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
    except (OSError, ValueError) as error:
        raise BadFile(folder, f"cannot be written: {getattr(error, 'strerror', None) or error}") from error
    return made


def try_out(folder: Path) -> None:
    """Raises BadFile, as `prepared` does; leaves nothing behind."""
    shutil.rmtree(prepared(folder), ignore_errors=True)


def _files(site: Site) -> Iterator[tuple[str, str]]:
    """The name and the text of each file."""
    yield MARK, "A site of looptck; the next one that is built here replaces it.\n"
    for name in STATIC:
        yield name, (FOLDER / name).read_text(encoding="utf-8")
    shared = {"site": site, "meanings": MEANINGS, "impacts": (*IMPACTS, WORDLESS), "slug": slug}
    for name in ("index", "requirements", "traits", "compare", "reports"):
        yield f"{name}.html", render(f"{name}.html.j2", root="", **shared)
    for title, text in site.pages.items():
        yield f"{slug(title)}.html", render("page.html.j2", root="", title=title, text=text, **shared)
    yield "data.js", f"const LOOPTCK = {json.dumps(_standings(site), separators=(',', ':'))};\n"
    below = shared | {"root": "../"}
    for entry in site.entries:
        pairs = [pair for pair in site.versions if entry in pair]
        yield f"i/{entry.slug}.html", render("implementation.html.j2", entry=entry, pairs=pairs, **below)
        if entry.data is not None:
            yield f"data/{entry.slug}.json", json.dumps(entry.data, indent=1, ensure_ascii=False) + "\n"
        for name, text in entry.reports.items():
            yield f"b/{slug(f'{entry.target}-{name}')}.html", _report(entry, text, below)
    for row in site.requirements:
        found = shortest(site.judged, row)
        yield f"r/{row.id}.html", render("requirement.html.j2", row=row, shortest=found, **below)
    for trait in site.traits:
        yield f"t/{trait.id}.html", render("trait.html.j2", trait=trait, **below)
    for a, b in site.versions:
        yield f"c/{a.slug}--{b.slug}.html", _comparison(a, b, below)


def _report(entry: Entry, text: str, shared: Mapping[str, Any]) -> str:
    """A report, with the receipts of the causes whose requirements it names."""
    named = set(re.findall(r"--requirement ([a-z0-9-]+)", text))
    causes = [cause for cause in entry.causes if cause["requirement"] in named and cause.get("receipt")]
    return render("report.html.j2", entry=entry, text=text, causes=causes, **shared)


def _comparison(a: Entry, b: Entry, shared: Mapping[str, Any]) -> str:
    one, other = a.results, b.results
    assert one is not None
    assert other is not None
    found = comparison(one, other)
    changed = [row for row in found.requirements if row.change not in SILENT]
    asked = [row for row in found.traits if row.change not in SILENT]
    return render("versions.html.j2", a=a, b=b, found=found, changed=changed, asked=asked, **shared)


def _standings(site: Site) -> dict[str, Any]:
    """What the page that compares any two needs: a letter for each standing."""
    rows = site.requirements
    return {
        "requirements": [[row.id, row.level, row.impact or WORDLESS, row.text] for row in rows],
        "entries": [
            {"slug": entry.slug, "name": f"{entry.name} {entry.version}", "states": _letters(entry, rows)}
            for entry in site.judged
        ],
    }


def _letters(entry: Entry, rows: Sequence[Requirement]) -> str:
    """The standing of each requirement, as the place of its meaning."""
    places = {state: str(at) for at, state in enumerate(MEANINGS)}
    return "".join(places[entry.standing(row.id).state] for row in rows)


def _age(entry: Entry) -> tuple[tuple[int, str], ...]:
    """A version in the order of its numbers."""
    parts = entry.version.replace("-", ".").split(".")
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in parts)
