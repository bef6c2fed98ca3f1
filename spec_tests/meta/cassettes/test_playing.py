"""Playing: the recorded bytes are what leaves, and a loop that misreads them fails."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from looptck.cassettes import Cassette, cassettes, scenarios
from looptck.kit import Scene
from looptck.provider.script import Recorded, Script
from looptck.provider.server import Provider
from looptck.provider.stage import Stage
from looptck.provider.toolbox import Toolbox
from looptck.wires import WIRES
from meta.cassettes import misreaders

REQUIREMENT = "recorded-traffic-is-read-right"
Failing = Callable[[type], dict[str, str]]
WITH_CALLS = {name for name in scenarios() if name != "no-call"}


@pytest.mark.parametrize("cassette", cassettes().values(), ids=cassettes())
def test_byte_for_byte(cassette: Cassette) -> None:
    """Each recorded request gets the status, the content type and the bytes that it got then."""
    scene = Scene()
    cassette.set(scene)
    stage = Stage(WIRES[cassette.wire], Script(tuple(scene.steps)), Toolbox(dict(scene.behaviours)))

    with Provider() as provider, httpx.Client(trust_env=False) as client:
        url = f"{provider.open(stage)}/v1{stage.wire.route}"
        replies = [client.post(url, json=exchange.body) for exchange in cassette.exchanges]

    got = [Recorded(reply.status_code, reply.headers["content-type"], reply.content) for reply in replies]
    assert [exchange.reply for exchange in cassette.exchanges] == got


@pytest.fixture(name="failing")
def _failing(tmp_path: Path) -> Failing:
    """Runs a driver of ``misreaders``, and tells its verdicts by scenario where they are no pass."""

    def run(driver: type) -> dict[str, str]:
        file = tmp_path / "results.json"
        words = ["--driver", f"python:{misreaders.__file__}:{driver.__name__}", "--json", str(file), "--quiet"]
        subprocess.run(
            [sys.executable, "-c", "from looptck.cli import main; main()", "run", "--requirement", REQUIREMENT, *words],
            check=False,
            capture_output=True,
        )
        results = json.loads(file.read_text(encoding="utf-8"))["results"]
        by_scenario = {
            name: {result["verdict"] for result in results if f"[{name}]" in result["case"]} for name in scenarios()
        }
        return {name: "/".join(sorted(verdicts)) for name, verdicts in by_scenario.items() if verdicts != {"pass"}}

    return run


def test_requests_that_never_come(failing: Failing) -> None:
    """A loop that stops while recorded replies are left has failed."""
    assert dict.fromkeys(WITH_CALLS, "fail") == failing(misreaders.Hasty)


def test_arguments_that_were_not_recorded(failing: Failing) -> None:
    """A loop that runs a tool with other arguments than the recorded ones has failed."""
    assert {"beyond-ascii": "fail"} == failing(misreaders.AsciiOnly)


def test_ids_that_were_not_recorded(failing: Failing) -> None:
    """A loop that echoes other ids than the recorded ones has failed, though the judge has nothing against it."""
    assert dict.fromkeys(WITH_CALLS, "fail") == failing(misreaders.OwnIds)


def test_answer_that_was_not_recorded(failing: Failing) -> None:
    """A loop that returns another text than the recorded one has failed."""
    assert dict.fromkeys(scenarios(), "fail") == failing(misreaders.Trims)
