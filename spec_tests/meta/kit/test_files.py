"""The files that people write: a mistake is refused with the file and the place, and what ships is whole."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

from looptck import spec
from looptck.bench import cases
from looptck.catalogue import requirements as catalogue
from looptck.catalogue.agents import agent
from looptck.catalogue.data import fixture
from looptck.catalogue.yaml_files import BadFile
from looptck.values.framing import PRESETS

ROW = """
  - id: {id}
    level: MUST
    impact: broken
    text: It does what it should.
    source: [{{book: Chapter 1}}]
    observed_at: wire
    added: "0.1"
"""
PROFILE = """
profile: {name}
title: A profile
finished: false
documents: {{book: {{title: The Book}}}}
requirements:
"""
CASE = """
why: It is there to be broken.
script: [{text: "Done."}]
checks: {final-text-is-returned: {text: "Done."}}
"""
RECORDED = "question: What?\nrecord: {}\n"


@pytest.fixture(name="requirements")
def _requirements(tmp_path: Path) -> Path:
    """A folder for profiles, with their schema."""
    shutil.copy(fixture("requirements/profile.schema.json"), tmp_path)
    return tmp_path


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """A folder for cases, with their schema and a topic."""
    shutil.copy(fixture("cases/case.schema.json"), tmp_path)
    (tmp_path / "topic").mkdir()
    return tmp_path


def profile(*ids: str, name: str = "one") -> str:
    """The text of a profile with these requirements."""
    return PROFILE.format(name=name) + "".join(ROW.format(id=id) for id in ids)


def test_a_profile_is_read(requirements: Path) -> None:
    """A profile that is written right is read."""
    (requirements / "one.yaml").write_text(profile("a-rule", "b-rule"), "utf-8")

    read = catalogue.read(requirements)

    assert ["a-rule", "b-rule"] == [row.id for row in read]
    assert "The Book, Chapter 1" == read["a-rule"].source


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (profile("a") + "    colour: red\n", "/requirements/0: Additional properties are not allowed ('colour'"),
        (profile("a").replace("wire", "wires"), "/requirements/0/observed_at"),
        (profile("a").replace("    impact: broken\n", ""), '/requirements/0: "impact" is a required property'),
        (profile("a").replace("broken", "bad"), "/requirements/0/impact"),
        (profile("A Rule"), "/requirements/0/id"),
        (profile("a").replace("should.", "should"), "/requirements/0/text"),
        (profile("a", "a"), "the id a is already defined in one.yaml"),
        (profile("a") + "    level: MAY\n", "duplicate key 'level'"),
        (profile("a").replace("book: Chapter", "bok: Chapter"), "a: there is no document 'bok'; did you mean book?"),
        (profile("a") + "    otherwise: [{profile: two, section: x}]\n", "a: there is no profile 'two'"),
        (profile("a") + "    otherwise: [{profile: one}]\n", '/requirements/0/otherwise/0: "section" is a required'),
        (profile("a") + "  - id: [", "line 16"),
        ("", "is not of type"),
        ("\x00", "is not the YAML that was meant"),
    ],
)
def test_a_bad_profile_is_refused(requirements: Path, text: str, told: str) -> None:
    """A mistake in a profile is refused with the file and the place."""
    path = requirements / "one.yaml"
    path.write_text(text, "utf-8")

    with pytest.raises(BadFile) as refused:
        catalogue.read(requirements)
    assert path == refused.value.path
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("second", "told"),
    [
        (profile("a", name="two"), "the id a is already defined in one.yaml"),
        (profile("b", name="one"), "the profile one is already defined in another file"),
    ],
)
def test_what_stands_in_two_files_is_refused(requirements: Path, second: str, told: str) -> None:
    """An id or a profile that another file has already is refused."""
    (requirements / "one.yaml").write_text(profile("a"), "utf-8")
    (requirements / "two.yaml").write_text(second, "utf-8")

    with pytest.raises(BadFile, match=told) as refused:
        catalogue.read(requirements)
    assert "two.yaml" == refused.value.path.name


def test_a_folder_without_profiles_is_refused(requirements: Path) -> None:
    """Where there is no profile, there is nothing to be judged by."""
    with pytest.raises(BadFile, match="there is no profile in it"):
        catalogue.read(requirements)


def test_a_case_is_read(folder: Path) -> None:
    """A case that is written right is read, under the name of its file."""
    (folder / "topic" / "mine.yaml").write_text(CASE, "utf-8")

    assert ["mine"] == list(cases.read(folder))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (CASE + "limits: 3\n", "Additional properties are not allowed ('limits'"),
        (CASE + "why: Twice.\n", "duplicate key 'why'"),
        (CASE.replace("final-text-is-returned", "final-text-is-retuned"), "did you mean final-text-is-returned"),
        (CASE.replace("[{text", "[{framing: crfl, text"), "there is no framing 'crfl'; did you mean crlf"),
        (CASE.replace('{text: "Done."}}', '{text: "Done.", control: mien}}'), "there is no case 'mien'"),
        (CASE.replace('returned: {text: "Done."}', 'returned: {texts: "Done."}'), "/checks/final-text-is-returned"),
        (CASE.replace("[{text", "[{txt"), "/script/0"),
        (CASE + "limit: -1\n", "/limit: -1 is less than the minimum of 0"),
        (CASE + "agent: nobody\n", "there is no such agent"),
        (CASE + "tools: {wether: {returns: 1}}\n", "there is no tool 'wether'; did you mean weather?"),
        (CASE + "record: {}\n", '"question" is a required property'),
        (CASE + "question: What?\nrecord: {stops: x}\n", "/record: Additional properties are not allowed ('stops'"),
        (CASE + RECORDED.replace("{}", "{tool_choice: wether}"), "there is no tool choice 'wether'; did you mean"),
        (CASE.replace('Done."}]', 'Done.", stop: stop_sequence}]') + RECORDED, "/record: needs the stop sequence"),
        (CASE + "unhandled: [wether]\n", "there is no tool 'wether'; did you mean weather?"),
        (CASE + "tools: {weather: {returns: 1, raises: x}}\n", "/tools/weather"),
        (CASE + "tools: {weather: {returns: 2024-01-01}}\n", "holds what JSON cannot"),
        ("script: [", "line 2"),
        ("[]", "is not of type"),
    ],
)
def test_a_bad_case_is_refused(folder: Path, text: str, told: str) -> None:
    """A mistake in a case is refused with the file and the place."""
    path = folder / "topic" / "mine.yaml"
    path.write_text(text, "utf-8")

    with pytest.raises(BadFile) as refused:
        cases.read(folder)
    assert told in str(refused.value)


def test_two_cases_of_one_name_are_refused(folder: Path) -> None:
    """The name of a case is its file's, whatever the topic, so it stands once."""
    (folder / "other").mkdir()
    for topic in ("topic", "other"):
        (folder / topic / "mine.yaml").write_text(CASE, "utf-8")

    with pytest.raises(BadFile, match="a case with the name mine already exists"):
        cases.read(folder)


def test_recorded_cases_of_one_question_are_refused(folder: Path) -> None:
    """A recording is known by its question."""
    for name in ("one", "two"):
        (folder / "topic" / f"{name}.yaml").write_text(CASE + RECORDED, "utf-8")

    with pytest.raises(BadFile, match="/question: the case one has the same question"):
        cases.read(folder)


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("why: It is", "why: It was", True),
        ("final-text-is-returned", "answer-without-calls-ends-the-loop", True),
        ("Done.", "Over.", False),
        ("What?", "Who?", False),
        ("record: {}", "record: {tool_choice: none}", False),
        ("record: {}", "record: {}\ntools: {ping: {returns: 1}}", False),
    ],
)
def test_a_fingerprint_is_of_what_a_recording_shows(folder: Path, old: str, new: str, same: bool) -> None:
    """A change that no recording would show leaves the fingerprint as it is, any other changes it."""
    path = folder / "topic" / "mine.yaml"
    path.write_text(CASE + RECORDED, "utf-8")
    before = cases.read(folder)["mine"].fingerprint
    path.write_text((CASE + RECORDED).replace(old, new), "utf-8")

    assert same == (before == cases.read(folder)["mine"].fingerprint)


def test_an_agent_that_there_is_not_is_refused() -> None:
    """An agent that has no file is refused with the name that the file would have."""
    with pytest.raises(BadFile, match=r"nobody\.prompty: there is no such agent"):
        agent("nobody")


# -- what ships -------------------------------------------------------------------------------------------------------


def functions() -> dict[str, list[str]]:
    """The requirements that test functions check, with the functions' names."""
    found: dict[str, list[str]] = {}
    for info in walk_packages(spec.__path__, f"{spec.__name__}."):
        if ".test_" in info.name:
            module = import_module(info.name)
            for name, function in vars(module).items():
                for mark in getattr(function, "pytestmark", []):
                    if mark.name == "looptck_requirement":
                        for id in mark.args:
                            found.setdefault(id, []).append(name)
    return found


def test_every_requirement_is_checked_or_excluded() -> None:
    """Each requirement of a finished profile has a test or a case, or says why it has none; none has both."""
    declared = {id for case in cases.cases().values() for id in case.checks}
    checked = declared | set(functions())
    rows = catalogue.catalogue()
    finished = [row for profile in rows.profiles.values() if profile.finished for row in profile.requirements]

    assert [] == [row.id for row in finished if row.judged_as not in checked and not row.excluded]
    assert [] == [row.id for row in rows if row.id in checked and row.excluded]


def test_every_test_checks_a_requirement_that_there_is() -> None:
    """No test is bound to a requirement that no profile has."""
    ids = {row.id for row in catalogue.catalogue()}

    assert set() == set(functions()) - ids


def test_every_framing_is_used() -> None:
    """A framing that has a name is there to be used: one of the tests runs through all of them."""
    assert "named_framings" in " ".join(name for names in functions().values() for name in names)
    assert "natural" == next(iter(PRESETS))
