"""The fixture of the tests of traits."""

from __future__ import annotations

import pytest

from looptck.asking import Loop, loop_for, require
from looptck.plugin import session_of
from looptck.trait_plugin import ITEM, LOOP, question_of


@pytest.fixture(name=ITEM)
def _loop(request: pytest.FixtureRequest) -> Loop:
    """The loop that is asked; not applicable where the question is about something else."""
    session = session_of(request.config)
    question = question_of(request.node)
    assert question is not None
    require(question, session.kit.started)
    loop = request.node.stash[LOOP] = loop_for(question, session.kit, session.survey)
    return loop
