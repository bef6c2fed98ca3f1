"""Whole streams of the reference's server, as its clients read them: a snapshot of each conversation on each wire."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest
from syrupy.assertion import SnapshotAssertion

from looptck.bench.benches import ServerBench, server_bench
from looptck.bench.choosing import bench_for
from looptck.bench.client import Ask
from looptck.bench.scenario import Scenario
from looptck.bench.server import PING, WEATHER
from looptck.provider.faults import HttpError
from looptck.provider.toolbox import Raises
from looptck.values.cell import Cell
from looptck.values.turns import Call, Turn, calls, says
from looptck.wires import WIRES

BENCH = "server:python:looptck_reference.server.bench:Bench"
PARIS = Call.of("weather", {"city": "Paris"})
CODE = Call.of("mistralrs_execute_python", {"code": "open('a.txt', 'w').write('a')", "outputs": ["a.txt"]})
DONE = says("It is sunny in Paris, and so it will be.")
CONVERSATIONS: Mapping[str, tuple[Turn | HttpError, ...]] = {
    "at-once": (DONE,),
    "two-rounds-one-fails": (calls(Call.of("ping"), text="Let me see. "), calls(PARIS), DONE),
    "a-file": (calls(CODE), DONE),
    "the-model-fails": (calls(PARIS), HttpError(500)),
    "the-cap": (calls(PARIS), calls(PARIS), calls(PARIS), DONE),
}
DIFFERS = {
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}": "UUID",
    r"[0-9a-f]{32}|(?<=file_)[0-9a-f]{12}": "RUN",
    r'(?P<name>"(?:created|created_at|execution_time_ms)":)[0-9]+': r"\g<name>0",
    r'(?P<name>"working_directory":)"[^"]*"': r'\g<name>"DIRECTORY"',
    r"(?<=127\.0\.0\.1:)[0-9]+": "PORT",
}
"""What no two runs have alike, as a pattern, and what stands in its place."""


@pytest.fixture(scope="module")
def bench() -> Iterator[ServerBench]:
    """The reference's server on the bench."""
    with server_bench(bench_for(BENCH)) as bench:
        yield bench


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("script", CONVERSATIONS.values(), ids=CONVERSATIONS)
def test_stream(
    bench: ServerBench, wire: str, script: tuple[Turn | HttpError, ...], snapshot: SnapshotAssertion
) -> None:
    """What a client reads of a conversation."""
    scenario = Scenario()
    scenario.does("ping", Raises("no data"))
    scenario.plays(*script)
    ask = Ask(question="How is the weather?", tools=(PING, WEATHER), rounds=2, members={"enable_code_execution": True})

    run = bench.ask(scenario, Cell(wire, True, "sync"), ask).result()

    assert snapshot == steady(run.got.raw.decode())


def steady(stream: str) -> str:
    """The stream without what differs from run to run."""
    for pattern, mark in DIFFERS.items():
        stream = re.sub(pattern, mark, stream)
    return stream
