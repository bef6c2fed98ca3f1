"""The fixtures of the suite: what a check of a requirement and a test of a trait have at hand."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from looptck.bench.checks import Implementation
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.cassettes import Cassette
from looptck.suite import plugin, questions
from looptck.suite.asking import Loop, loop_for, require
from looptck.suite.directly import judging
from looptck.suite.plugin import check_of, session_of
from looptck.suite.questions import question_of
from looptck.suite.session import Session
from looptck.suite.trait_plugin import LOOP


@pytest.fixture(name=plugin.ITEM)
def _implementation(request: pytest.FixtureRequest) -> Generator[Implementation]:
    """The implementation under test; not applicable where it lacks what the requirement needs."""
    check = check_of(request.node)
    assert check is not None
    with judging(request.node, check, session_of(request.config)) as implementation:
        yield implementation


@pytest.fixture(name="cassette")
def _cassette(implementation: Implementation, request: pytest.FixtureRequest) -> Cassette | None:
    """The cassette that the check is on; None if it is on none."""
    return session_of(request.config).cassette_of(implementation.check)


@pytest.fixture(name="scenario")
def _scenario(implementation: Implementation) -> Scenario:
    """What the fake provider and the tools will do."""
    return implementation.scenario


@pytest.fixture(name="server")
def _server(implementation: Implementation) -> ServerUnderTest:
    """A client of the server under test."""
    return ServerUnderTest(implementation)


@pytest.fixture(name="session", scope="session")
def _session(request: pytest.FixtureRequest) -> Session:
    """The kit's session."""
    return session_of(request.config)


@pytest.fixture(name=questions.ITEM)
def _loop(request: pytest.FixtureRequest) -> Loop:
    """The loop that answers a trait's question; not applicable if the question is about another cell."""
    session = session_of(request.config)
    question = question_of(request.node)
    assert question is not None
    require(question, session.bench.started)
    loop = request.node.stash[LOOP] = loop_for(question, session.bench, session.survey)
    return loop
