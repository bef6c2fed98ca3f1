"""Deviations: each is declared, and each declared one is shown."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
import yaml

from looptck.cassettes import cassettes
from looptck.cassettes import read as read_cassette
from looptck.cassettes.deviations import (
    Difference,
    ServerDeviations,
    deviations_of,
    observed,
    read,
    server_deviations,
    stale,
    undeclared,
)
from looptck.catalogue.requirements import catalogue
from looptck.catalogue.yaml_files import BadFile
from meta.cassettes.doctored import STREAM, doctored
from meta.drivers.bench import judged

LLAMA = server_deviations("llama.cpp")
assert LLAMA
FOUND = {difference for one in cassettes() for difference in observed(one)}


def written(folder: Path, *rows: dict[str, object]) -> ServerDeviations:
    """A dialect of these deviations."""
    path = folder / "odd.yaml"
    whole = [{"wire": "openai-chat", "why": "It is so.", **row} for row in rows]
    path.write_text(yaml.safe_dump({"upstream": "odd", "deviations": whole}), encoding="utf-8")
    return read(path)


PING = Difference("openai-chat", True, "recorded", "event ping")


def test_declared_and_shown() -> None:
    """What the shipped recordings show is what is declared, neither more nor less."""
    assert [] == undeclared(FOUND, LLAMA)
    assert LLAMA
    assert [] == stale(list(FOUND), LLAMA)


def test_every_deviation_of_the_catalogue_is_needed() -> None:
    """Without any one of its deviations, something that was recorded is not declared."""
    assert LLAMA
    for one in LLAMA.deviations:
        others = ServerDeviations(
            "x", LLAMA.path, tuple(other for other in LLAMA.deviations if other is not one), (), ()
        )
        assert undeclared(FOUND, others), one


@pytest.mark.parametrize(
    ("row", "declared"),
    [
        ({"recorded": ["event ping"]}, True),
        ({"recorded": ["event *"]}, True),
        ({"recorded": ["*ing"], "mode": "stream"}, True),
        ({"recorded": ["event ping"], "mode": "plain"}, False),
        ({"recorded": ["event ping"], "wire": "openai-responses"}, False),
        ({"written": ["event ping"]}, False),
        ({"recorded": ["event pin."]}, False),
        ({"recorded": ["ping"]}, False),
    ],
)
def test_what_a_deviation_covers(tmp_path: Path, row: dict[str, object], declared: bool) -> None:
    """Its wire, its mode, its side, and the line as a whole; only the asterisk matches other text."""
    assert declared == (undeclared({PING}, written(tmp_path, row)) == [])


def test_without_a_dialect_nothing_deviates() -> None:
    """The vendors' own services are what the encoders write."""
    assert server_deviations("") is None
    assert [PING] == undeclared({PING}, None)


def test_stale(tmp_path: Path) -> None:
    """A declared line that nothing shows is reported, even if other lines of its deviation are shown."""
    known = written(tmp_path, {"recorded": ["event ping", "event pong"], "written": ["event ping"]})

    assert ["openai-chat: recorded: event pong", "openai-chat: written: event ping"] == stale([PING], known)


def test_unknown_dialect() -> None:
    """A name that no file has."""
    with pytest.raises(BadFile, match=r"is not there: there is no dialect 'lama.cpp'; did you mean llama.cpp"):
        server_deviations("lama.cpp")


@pytest.mark.parametrize("row", [{}, {"recorded": []}, {"recorded": ["x"], "wire": "x"}, {"recorded": ["x"], "y": 1}])
def test_bad_deviation(tmp_path: Path, row: dict[str, object]) -> None:
    """A deviation that says nothing, or that the schema does not know, is refused."""
    with pytest.raises(BadFile):
        written(tmp_path, row)


def test_unsupported() -> None:
    """Why a scenario is not recorded on a wire; None where it can be."""
    assert LLAMA
    why = LLAMA.why_unsupported("anthropic-messages", "answer-looks-like-a-call", stream=True)
    assert why
    assert why.startswith("It ignores the tool choice none")
    assert LLAMA.why_unsupported("openai-chat", "answer-looks-like-a-call", stream=True) is None


def test_a_new_member_is_observed(tmp_path: Path) -> None:
    """A member that the encoders never write is observed in any reply."""
    path = doctored(tmp_path, lambda it: it["interactions"][1]["response"]["body"]["json"].update(mood="good"))
    assert ["body /mood text"] == [one.line for one in undeclared(observed(read_cassette(path)), LLAMA)]


def test_a_new_event_is_observed(tmp_path: Path) -> None:
    """The same of an event."""

    def add(content: dict[str, list[dict[str, dict[str, dict[str, str]]]]]) -> None:
        content["interactions"][0]["response"]["body"]["text"] += 'data: {"type": "mood"}\n\n'

    lines = [one.line for one in undeclared(observed(read_cassette(doctored(tmp_path, add, of=STREAM))), LLAMA)]

    assert ["event mood"] == lines


def test_recordings_that_one_requirement_judges() -> None:
    """A requirement declared for a wire and mode is the only one judged on their recordings."""
    core = [row.id for row in catalogue() if row.profile == "core"]
    report = judged(None, *core, cells=("openai-responses/*/sync",), cases=("one-call@llama.cpp",))

    by_cell: dict[str, set[str]] = defaultdict(set)
    for result in report.json["results"]:
        by_cell[result["cell"]].add(result["requirement"])
    assert {"missing-sequence-is-tolerated"} == by_cell["openai-responses/stream/sync"]
    assert {"call-runs-its-tool-once", "recorded-traffic-is-read-right"} < by_cell["openai-responses/plain/sync"]
    assert (0, {"pass"}) == (report.status, set(report.counts))


def test_some_scenarios_that_one_requirement_judges() -> None:
    """llama.cpp signs no thought, so only reading it right is judged where it thinks; other scenarios are as ever."""
    assert LLAMA
    judging = {
        scenario: LLAMA.requirement("anthropic-messages", scenario, stream=False) for scenario in ("thinking", "chain")
    }

    assert {"thinking": "recorded-traffic-is-read-right", "chain": None} == judging


def test_a_cassette_of_an_unknown_dialect_is_named(tmp_path: Path) -> None:
    """The file, the place, and the dialect that was meant."""
    path = doctored(tmp_path, lambda content: content["provenance"].update(dialect="lama.cpp"))

    with pytest.raises(BadFile, match=r"/provenance/dialect: .*did you mean llama\.cpp") as refused:
        deviations_of(read_cassette(path))
    assert path == refused.value.path


def test_an_unknown_requirement_is_refused(tmp_path: Path) -> None:
    """With the one that was meant."""
    path = tmp_path / "x.yaml"
    path.write_text(
        "upstream: x\ndeviations: []\njudged_by:\n"
        "- {wire: openai-chat, requirement: interleaved-blocks-stay-apar, why: It is so.}\n",
        encoding="utf-8",
    )

    with pytest.raises(BadFile, match="did you mean interleaved-blocks-stay-apart"):
        read(path)
