"""The cassettes that the project ships: whole, clean, and as the judge and the cases would have them today."""

from __future__ import annotations

import re

import pytest

from looptck.cassettes import Cassette, cassettes
from looptck.cassettes.cassette import chunks_path
from looptck.cassettes.check import check
from looptck.cassettes.file_format import parse_cassette, parse_chunks, render_cassette, render_chunks
from looptck.cassettes.playback import case_followed
from looptck.cassettes.selection import groups, odd_recordings
from looptck.catalogue.yaml_files import parse
from looptck.values.history import Asked
from looptck.wires import WIRES
from meta.kit.each import each

SHIPPED = {f"{one.wire}/{one.path.stem}": one for one in cassettes()}
EVERY = {name: (one,) for name, one in SHIPPED.items()}

HOSTS = re.compile(r"\w+://([^/\s\"':]*)")


def test_nothing_is_found() -> None:
    """All of them pass the command's own check."""
    assert [] == check(()).lines


def test_one_of_each_structure() -> None:
    """No two have the same structure, unless one of them is odd; so ``looptck cassettes select`` leaves none out."""
    found = groups(SHIPPED.values(), odd_recordings())

    assert {} == {group.representative.file: [one.file for one in group.others] for group in found if group.others}


def test_each_odd_one_is_needed() -> None:
    """What is called odd is shipped, and not the only one of its structure: that would be shipped without a reason."""
    beside = {one.file for group in groups(SHIPPED.values(), odd_recordings()) for one in group.selected[1:]}

    assert set(odd_recordings()) == beside


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("wire", WIRES)
def test_each_wire_in_both_modes(wire: str, stream: bool) -> None:
    """Each wire has an answer alone, a single call, calls side by side, thoughts, and an answer without text."""
    here = [one for one in SHIPPED.values() if (one.wire, one.stream) == (wire, stream)]
    lasts = [one.turns[-1] for one in here]

    assert {0, 1, 3} <= {len(one.turns[0].calls) for one in here}
    assert {"thinking-before-the-answer", "thinking-in-a-chain"} <= {one.scenario for one in here}
    assert any(not turn.text and not turn.calls for turn in lasts)


def test_most_keep_to_their_script() -> None:
    """Nearly all of them are judged by the requirements of their cases too: the scripted model says what it should."""
    kept = [one for one in SHIPPED.values() if case_followed(one) is not None]

    assert len(kept) > 0.9 * len(SHIPPED)


def test_no_host() -> None:
    """They hold no host but the loopback, not even a public one."""

    def holds_none(cassette: Cassette) -> None:
        assert set(HOSTS.findall(cassette.path.read_text(encoding="utf-8"))) <= {"127.0.0.1"}

    each(EVERY, holds_none)


def test_turns_are_what_the_client_echoed() -> None:
    """Two readers agree: the kit's, of the reply, and the recording client's, in the request that came next."""

    def agree(cassette: Cassette) -> None:
        for before, after in zip(cassette.exchanges, cassette.exchanges[1:], strict=False):
            assert before.turn
            calls = [(call.id, call.tool) for call in before.turn.calls]
            new = after.request.items[len(before.request.items) :]

            assert calls == [(item.id, item.tool) for item in new if isinstance(item, Asked)]

    each(EVERY, agree)


def test_files_are_as_they_would_be_written() -> None:
    """Reading one and writing it again gives the same bytes, so it was not edited by hand."""

    def is_the_same(cassette: Cassette) -> None:
        content = parse(cassette.path)
        beside = chunks_path(cassette.path)

        assert render_cassette(*parse_cassette(content)) == cassette.path.read_text(encoding="utf-8")
        if beside.exists():
            chunks = parse(beside)
            assert render_chunks(chunks["cassette"], parse_chunks(chunks)) == beside.read_text(encoding="utf-8")

    each(EVERY, is_the_same)


def test_chunks() -> None:
    """Every stream has a file of chunks, and plain replies have none."""

    def has_its_own(cassette: Cassette) -> None:
        assert cassette.stream == chunks_path(cassette.path).exists()

    each(EVERY, has_its_own)
