"""The part of the pytest plugin that is about traits: their tests ask, and whatever comes of it is an answer.

None of their outcomes fails a run: an answer passes, and what could not be decided is skipped with its reason.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from looptck.suite.plugin import SESSION, SPEC, session_of

if TYPE_CHECKING:
    from looptck.suite.asking import Loop, Question

ITEM = "loop"
"""The fixture that makes a test an item of traits, one for each cell; `looptck.spec.conftest` has it too."""
LOOP: pytest.StashKey[Loop] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", "looptck_trait(id): the trait that a test asks about")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One item for each cell in which a trait is asked."""
    if not metafunc.module.__name__.startswith(SPEC) or ITEM not in metafunc.fixturenames:
        return
    marked = metafunc.definition.get_closest_marker("looptck_trait")
    assert marked is not None, f"{metafunc.function.__name__} asks about no trait"
    questions = session_of(metafunc.config).questions(marked.args[0])
    metafunc.parametrize(ITEM, questions, ids=[question.id for question in questions], indirect=True)


def question_of(item: pytest.Item) -> Question | None:
    """What an item asks; None if it is no item of traits."""
    callspec: Any = getattr(item, "callspec", None)
    question: Question | None = callspec.params.get(ITEM) if callspec else None
    return question if hasattr(question, "trait") else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note what will be asked."""
    if SESSION in config.stash:
        asked = {item: question_of(item) for item in items}
        items[:] = [item for item in items if asked[item] or ITEM not in getattr(item, "fixturenames", ())]
        config.stash[SESSION].survey.questions = [question for question in asked.values() if question is not None]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Take the answer in, whatever it is."""
    report = yield
    question = question_of(item) if SESSION in item.config.stash else None
    if question is not None:
        from looptck.suite.asking import take_in

        take_in(item.config.stash[SESSION].survey, item, question, item.stash.get(LOOP, None), call, report)
    return report
