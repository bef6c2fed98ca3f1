"""The part of the pytest plugin for traits: every outcome of a trait's test is an answer.

No outcome fails the run: a test with an answer passes, and an undecided one is skipped with its reason.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from looptck.suite.plugin import SESSION, SPEC, session_of
from looptck.suite.questions import ITEM, question_of

if TYPE_CHECKING:
    from looptck.suite.asking import Loop

LOOP: pytest.StashKey[Loop] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", "looptck_trait(id): the trait that a test asks about")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One item for each cell in which a trait is asked."""
    if not metafunc.module.__name__.startswith(SPEC) or ITEM not in metafunc.fixturenames:
        return
    marked = metafunc.definition.get_closest_marker("looptck_trait")
    assert marked is not None, f"{metafunc.function.__name__} asks about no trait"
    questions = session_of(metafunc.config).questions(marked.args[0])
    metafunc.parametrize(ITEM, questions, ids=[question.id for question in questions], indirect=True)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Record the questions of this run."""
    if SESSION in config.stash:
        asked = {item: question_of(item) for item in items}
        items[:] = [item for item in items if asked[item] or ITEM not in getattr(item, "fixturenames", ())]
        session = config.stash[SESSION]
        session.survey.questions = [question for question in asked.values() if question is not None]
        session.record.questions = len(session.survey.questions)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Record the answer."""
    report = yield
    question = question_of(item) if SESSION in item.config.stash else None
    if question is not None:
        from looptck.suite.asking import take_in

        item.config.stash[SESSION].record.spent.timed(question.id, report.duration)
        take_in(item.config.stash[SESSION].survey, item, question, item.stash.get(LOOP, None), call, report)
    return report
