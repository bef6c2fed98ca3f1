"""The pytest plugin of the mock: the fixture `llm`, also named `looptck_llm`, for everybody's own tests.

A test fails where its code has sent what the real service would refuse, or has not played the script to its end. A run
of pytest that uses neither fixture pays for this file alone: everything else is imported by the first test that does.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from looptck.mock.kept import PROVIDER, TOLD, USED

if TYPE_CHECKING:
    from looptck.mock.llm import LLM

MARKER = "looptck_llm"


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        "looptck_llm(allow=(), judge=True, dialect=None, patience=5.0): how the mock of the fixture llm is set up",
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    """What a project allows in all its tests, and whether recordings are made."""
    group = parser.getgroup("looptck_llm", "looptck: the fixture llm")
    group.addoption(
        "--looptck-record", action="store_true", help="record what llm.replays plays, from the services themselves"
    )
    parser.addini(
        "looptck_allow", type="args", default=[], help="kinds of findings of the fixture llm that fail no test"
    )


@pytest.fixture
def looptck_llm(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Generator[LLM]:
    """A mock model service, where SDKs find it: the environment has its URLs, and keys that are none."""
    from looptck.mock.fixture import opened

    with opened(request, monkeypatch, MARKER) as made:
        yield made


@pytest.fixture
def llm(looptck_llm: LLM) -> LLM:
    """As `looptck_llm`, under a name that a project may give to a fixture of its own."""
    return looptck_llm


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test of which something is wrong; where it has failed already, say what beside its own reason."""
    try:
        result = yield
    except BaseException:
        if text := _found(item):
            item.add_report_section("call", "looptck", text)
        raise
    if text := _found(item):
        pytest.fail(text, pytrace=False)
    if USED in item.stash:
        item.stash[USED].keep(item.nodeid)
    return result


def _found(item: pytest.Item) -> str:
    """What is wrong with a test so far, in words; empty: nothing, or it uses no mock."""
    texts = [one.text for one in item.stash[USED].findings] if USED in item.stash else []
    item.stash[TOLD] = texts
    return "\n\n".join(texts)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the server, if there was one."""
    if PROVIDER in config.stash:
        config.stash[PROVIDER].__exit__(None, None, None)
        del config.stash[PROVIDER]
