"""Programs that were written differently and are right: nothing counts against them, and each row has its cases."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from looptck.catalogue.requirements import catalogue
from looptck.commands.kill.plan import cases_of, plan
from looptck.drivers import PROGRAM_OF_REFERENCE
from looptck.suite.options import Options
from looptck.suite.selection import Selection
from looptck.suite.session import Session

RIGHT = Path(__file__).parent / "right"
OF_AN_SDK = [
    "program-bad-arguments-are-not-lost",
    "program-call-runs-its-tool-once",
    "program-cut-reply-is-told",
    "program-exit-status-tells-failure",
    "program-http-error-is-told",
    "program-page-instead-of-json-is-told",
    "program-refusal-is-told",
    "program-retry-never-reruns-a-tool",
    "program-truncated-answer-is-told",
    "program-unknown-fields-are-ignored",
]
"""What depends on how a vendor's client reads replies and asks again; it takes half a second to start."""
OF_TOOLS = [
    "program-offered-schema-is-the-declared-one",
    "program-arguments-arrive-whatever-their-shape",
    "program-text-result-arrives-unchanged",
    "program-raising-tool-is-not-lost",
    "program-what-ran-is-told",
]
"""What the kit's own tools show; each of their cases takes seconds."""
ROWS = {"with_openai": OF_AN_SDK, "with_tools": OF_TOOLS, "over_acp_with_tools": OF_TOOLS[1:4]}
"""The requirements that a program is tried on, if not all."""


@pytest.mark.parametrize(
    "name", ["with_httpx", "with_openai", "with_fetch", "over_acp", "with_tools", "over_acp_with_tools"]
)
def test_a_right_program_fails_nothing(name: str, tmp_path: Path) -> None:
    """Over Chat as a stream, plain, over Messages in JavaScript, over ACP, and with the kit's tools."""
    if name == "with_fetch" and shutil.which("node") is None:
        pytest.skip("node is not installed")
    found = tmp_path / "results.json"
    words = ["run", "-q", "--driver", f"program:{RIGHT / name}.yaml", "--json", str(found)]
    words += [word for row in ROWS.get(name, ()) for word in ("--requirement", row)]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    around = {**os.environ, "PATH": path, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-m", "looptck.cli", *words], env=around, capture_output=True, check=False)

    results = json.loads(found.read_text(encoding="utf-8"))["results"]
    assert [] == [one for one in results if one["verdict"] not in {"pass", "not-applicable"}]
    assert (5 if name in ROWS else 50) < sum(one["verdict"] == "pass" for one in results)


def test_every_case_of_a_row_is_there() -> None:
    """Each case that a row of the profile names is played for it, in some cell."""
    session = Session.begin(Options(driver=PROGRAM_OF_REFERENCE, selection=Selection(profiles=("program",))))
    try:
        played = cases_of(plan(session))
    finally:
        session.end()

    rows = catalogue().profiles["program"].requirements
    plain = {
        row.id: {name for case in played.get(row.id, ()) for name in (case, case.partition("[")[0])} for row in rows
    }
    assert {} == {row.id: left for row in rows if (left := {*row.cases} - plain[row.id])}
    assert [] == [row.id for row in rows if not played.get(row.id)]
