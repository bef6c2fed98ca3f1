"""The handlers by which the reference's driver runs the kit's tools."""

from __future__ import annotations

import inspect

import pytest

from looptck_reference.kit.posting import Posts
from looptck_reference.kit.toolbox import ToolboxClient


@pytest.mark.parametrize(
    ("mode", "wanted", "asynchronous"),
    [("sync", None, False), ("async", None, True), ("async", "sync", False), ("sync", "async", True)],
)
def test_a_handler_is_of_the_kind_that_is_wanted(mode: str, wanted: str | None, asynchronous: bool) -> None:
    """Else it suits the run."""
    handler = ToolboxClient(mode, Posts(), None).function("http://toolbox.test/", wanted)

    assert asynchronous == inspect.iscoroutinefunction(handler)
