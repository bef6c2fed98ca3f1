"""The folder of a bench: made for the first file that a run needs, and removed with the bench."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from meta.drivers.bench import judged


@pytest.mark.parametrize(
    ("profile", "requirement", "count"),
    [("core", "call-runs-its-tool-once", 0), ("prompty-agent-mode", "mode-agent-file-is-the-prompt", 1)],
)
def test_a_folder_is_made_where_a_run_has_files(
    profile: str, requirement: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent in a file has a folder; a case without files has none, so that no killed run leaves an empty one."""
    made: list[str] = []
    folder = tempfile.TemporaryDirectory

    def counted(suffix: str = "", prefix: str = "tmp", **options: Any) -> tempfile.TemporaryDirectory[str]:
        made.extend([prefix] if prefix == "looptck-" else [])
        return folder(suffix, prefix, tmp_path, **options)

    monkeypatch.setattr(tempfile, "TemporaryDirectory", counted)

    report = judged(None, requirement, profiles=(profile,))

    assert {"pass"} == {*report.counts} - {"divergence", "not-applicable"}
    assert (count, []) == (len(made), [*tmp_path.iterdir()])
