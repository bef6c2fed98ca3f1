"""The site: every number leads to what made it, every link to a page, and nothing of others is markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from looptck.catalogue.families import families
from looptck.catalogue.yaml_files import BadFile
from looptck.report.site.building import MARK, Site, build
from looptck.report.site.entries import Entry
from meta.site.making import NEWER, RIGHT, WRONG, data, entries, result

A_CELL = 230
"""The most bytes of what the first page loads, for each implementation and family."""


@pytest.fixture(name="site", scope="module")
def _site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages") / "site"
    build(Site(entries(), "0.9", {"Fairness": "# Fairness\n\nHow it is made.\n"}), folder)
    return folder


class _Page(HTMLParser):
    """The links, ids and elements of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if tag == "a" else []
        self.loads += [found[name] for name in ("href", "src") if name in found and tag in {"link", "script", "img"}]


def _pages(site: Path) -> dict[Path, _Page]:
    return {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def test_every_link_leads_somewhere(site: Path) -> None:
    """A link to a page of the site has a file and a place in it, and nothing is loaded from elsewhere."""
    pages = _pages(site)
    broken = []
    for path, page in pages.items():
        for link in page.links:
            address, _, place = link.partition("#")
            to = (path.parent / address).resolve() if address else path
            if link.startswith("https://"):
                continue
            if not to.is_file() or (place and to in pages and place not in pages[to].ids):
                broken.append(f"{path.name}: {link}")
        assert all((path.parent / one).is_file() for one in page.loads), path

    assert [] == broken
    assert len(pages) > 10


def test_ids_are_unique(site: Path) -> None:
    """No page has one place twice."""
    assert [] == [path.name for path, page in _pages(site).items() if len(page.ids) != len(set(page.ids))]


def test_nothing_of_others_is_markup(site: Path) -> None:
    """Names, reasons, notes, reports and requests are text, whatever is in them."""
    pages = _pages(site)

    assert set() == {tag for page in pages.values() for tag in page.tags & {"wrong", "twice", "missing", "said"}}
    scripts = {one for path in pages for one in re.findall("<script[^>]*>", path.read_text(encoding="utf-8"))}
    assert all("src=" in one for one in scripts)


def test_the_overview_counts_what_fails(site: Path) -> None:
    """Requirements that fail are counted by impact; a failure of looptck's own is apart; what is clean says so."""
    text = (site / "index.html").read_text(encoding="utf-8")
    rows = {one[: one.index("</a>")].rpartition(">")[2]: one for one in text.split("<tr ")[1:]}

    assert {"right", "&lt;wrong&gt;", "absent"} == set(rows)
    assert "1 unsafe of 1 judged" in text
    assert "1 disputed of 1 judged" in text
    assert "npm &lt;said&gt; no" in rows["absent"]
    assert "nothing fails of 1 judged" in rows["right"]


def test_a_failure_has_its_receipt(site: Path) -> None:
    """The page of an implementation shows each cause with its conversation, the marked line, and why it is known."""
    text = (site / "i" / "wrong-2-2.0.html").read_text(encoding="utf-8")

    assert "<mark>  {&lt;script&gt;}</mark>" in text
    assert "First wrong event:</strong> the service refuses it: a result is &lt;missing&gt;" in text
    assert "Theirs: loop.py runs <code>it</code> twice." in text
    assert "looptck run --case one-call" in text


def test_a_report_has_its_receipt(site: Path) -> None:
    """A report is shown with the receipts of the requirements that its command names."""
    text = (site / "b" / "wrong-2-twice.html").read_text(encoding="utf-8")

    assert "It runs &lt;twice&gt;</h1>" in text
    assert "Receipt: call-runs-its-tool-once" in text
    assert "Receipt: every-call-is-answered" not in text


def test_a_requirement_says_who_fails_it(site: Path) -> None:
    """Each implementation is below its standing, and the shortest receipt is there."""
    text = (site / "r" / "call-runs-its-tool-once.html").read_text(encoding="utf-8")
    fails, passes = text.index('id="fail"'), text.index('id="pass"')

    assert fails < text.index("wrong-2-2.0.html") < passes < text.index("right-1.0.html")
    assert 'id="receipt"' in text


def test_a_long_reason_is_cut_where_it_says_so(tmp_path: Path) -> None:
    """A reason of several hundred characters ends in an ellipsis on the page of its requirement, and not in a word."""
    long = data("long", "1", [result("every-call-is-answered", "fail", reason="it went on " * 40)])
    build(Site([Entry("long", long)], "0.9", {}), tmp_path / "site")

    text = (tmp_path / "site" / "r" / "every-call-is-answered.html").read_text(encoding="utf-8")

    assert re.search(r" (it|went|on) …<br>In openai-chat/plain/sync\.", text)


def test_one_implementation_has_nothing_to_be_compared_with(site: Path, tmp_path: Path) -> None:
    """Where fewer than two are judged, the page for any two says so, and has no choices."""
    build(Site([Entry("alone", data("alone", "1", [result("every-call-is-answered")]))], "0.9", {}), tmp_path / "site")

    one, several = ((path / "compare.html").read_text(encoding="utf-8") for path in (tmp_path / "site", site))

    assert "One implementation is judged on these pages" in one
    assert "<select" not in one
    assert 2 == several.count("<select")


def test_versions_are_compared_in_their_order(site: Path) -> None:
    """Version 2 comes before version 10, and what differs is shown."""
    (path,) = (site / "c").glob("*.html")
    text = path.read_text(encoding="utf-8")

    assert "wrong-2-2.0--wrong-10-10.0.html" == path.name
    assert "call-runs-its-tool-once" in text


def test_the_first_page_is_small(tmp_path: Path) -> None:
    """With forty implementations the first page and what it loads stay below the limit, however many families."""
    everything = [row.id for family in families() for row in family.requirements]
    many = [Entry(f"n{n}", data(f"n{n}", "1", [result(id, "fail") for id in everything])) for n in range(40)]
    build(Site(many, "0.9", {}), tmp_path / "site")
    loaded = [tmp_path / "site" / name for name in ("index.html", "style.css", "filter.js")]

    assert sum(path.stat().st_size for path in loaded) < A_CELL * len(many) * len([*families()])


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    """A folder that is no site is not replaced; one that is a site is."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "thesis.txt").touch()
    site = Site([Entry("right", RIGHT)], "0.9", {})
    with pytest.raises(BadFile, match="holds other files than a site of looptck; name another folder"):
        build(site, folder)
    (folder / MARK).touch()
    build(site, folder)

    assert not (folder / "thesis.txt").exists()
    assert (folder / "index.html").is_file()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The error says which folder and why."""
    (tmp_path / "file").touch()
    with pytest.raises(BadFile, match="cannot be written: Not a directory"):
        build(Site([Entry("right", RIGHT)], "0.9", {}), tmp_path / "file" / "site")


def test_standings() -> None:
    """The worst verdict counts; a failure that looptck has to mend is disputed; what was not played is neither."""
    wrong = Entry("wrong", WRONG)
    ids = ["call-runs-its-tool-once", "every-call-is-answered", "limit-is-a-ceiling", "runs-do-not-leak"]

    assert ["fail", "disputed", "not-applicable", "not-played"] == [wrong.standing(id).state for id in ids]
    assert {"fail": 1, "pass": 1} == wrong.standing(ids[0]).verdicts
    assert "pass" == Entry("newer", NEWER).standing(ids[0]).state


def test_an_error_is_no_tick() -> None:
    """A family in which a check had no verdict shows it, and does not count it as judged."""
    one = data("x", "1", [result("call-runs-its-tool-once", "error"), result("every-call-is-answered")])
    tallies = [Entry("x", one).tally(family) for family in families()]

    assert {"nothing fails of 1 judged, 1 in error"} & {tally.words for tally in tallies} or 2 == sum(
        tally.words in {"not judged, 1 in error", "nothing fails of 1 judged"} for tally in tallies
    )
