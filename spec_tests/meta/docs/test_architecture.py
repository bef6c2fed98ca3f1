"""ARCHITECTURE draws the rooms that there are, and names places that there are; links and paths lead somewhere."""

from __future__ import annotations

import importlib
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from meta.docs.pages import PAGES, ROOT, between

CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
FLOORS = {one["containers"][0]: one["layers"] for one in CONTRACTS if one["type"] == "layers" and "containers" in one}
"""The floors of each package, from above, as the import contract has them."""
SOURCES = {"looptck": "spec_tests", "looptck_reference": "reference"}


def _drawn() -> dict[str, list[str]]:
    """The floors of each package as they are drawn: what stands before the first wide gap of each line."""
    found: dict[str, list[str]] = {}
    for line in between("ARCHITECTURE.md", "rooms").strip("`").removeprefix("text").splitlines():
        name = re.split(r" {2,}", line.strip())[0]
        if name in FLOORS:
            found[name] = []
        elif name:
            found[[*found][-1]].append(name)
    return found


def test_the_rooms_are_those_of_the_import_contract() -> None:
    """Each package has the floors of its contract, in that order, with the same rooms on each."""
    assert FLOORS == _drawn()


@pytest.mark.parametrize("package", FLOORS)
def test_the_rooms_are_there(package: str) -> None:
    """Each room is a folder or a file of its package."""
    folder = ROOT / SOURCES[package] / package

    for room in re.findall(r"\w+", " ".join(FLOORS[package])):
        assert (folder / room / "__init__.py").is_file() or (folder / f"{room}.py").is_file(), room


PLACES = sorted(
    {
        (page, path.removeprefix("looptck/"), name)
        for page, text in PAGES.items()
        for path, name in re.findall(r"`([a-z]+/[a-z0-9_/]+\.py)(?::([\w.]+))?`", text)
        if not path.startswith("spec_tests/")
    }
)


@pytest.mark.parametrize(("page", "path", "name"), PLACES, ids=lambda one: one)
def test_places_are_there(page: str, path: str, name: str) -> None:
    """Each `room/file.py` of the judge is there, and with `:name` the file has that name."""
    assert (ROOT / "spec_tests" / "looptck" / path).is_file(), f"{page} names {path}"
    found: Any = importlib.import_module("looptck." + path.removesuffix(".py").replace("/", "."))
    for part in filter(None, name.split(".")):
        found = getattr(found, part)


PATHS = sorted(
    {
        (page, path)
        for page, text in PAGES.items()
        for path in re.findall(r"`((?:spec_tests|reference|fixtures|cassettes|\.ci)/[^`\s]*)`", text)
        if not re.search(r"[A-Z*]", path.replace("README", ""))
    }
)


@pytest.mark.parametrize(("page", "path"), PATHS, ids=lambda one: one)
def test_paths_are_there(page: str, path: str) -> None:
    """Each path without a placeholder is in the repository."""
    assert (ROOT / path).exists(), f"{page} names {path}"


LINKS = sorted({(page, link) for page, text in PAGES.items() for link in re.findall(r"\]\(([^)#]+\.md)\)", text)})


@pytest.mark.parametrize(("page", "link"), LINKS, ids=lambda one: one)
def test_links_lead_somewhere(page: str, link: str) -> None:
    """Each link leads to a file, seen from the page that it is on."""
    assert ((ROOT / page).parent / link).resolve().is_file(), f"{page} links to {link}"


def test_every_page_is_linked_from_readme() -> None:
    """A reader of README finds each page of docs."""
    for page in PAGES:
        assert page == "README.md" or f"({page})" in PAGES["README.md"], page


def test_schemas_of_the_public_page_are_there() -> None:
    """Each schema that the page on what is public names is among the fixtures."""
    named = re.findall(r"`(?:fixtures/)?([\w.-]+\.schema\.json)`", PAGES["docs/public.md"])

    assert named
    for name in named:
        assert (Path(ROOT) / "fixtures" / name).is_file(), name
