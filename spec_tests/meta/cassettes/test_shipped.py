"""The cassettes that the project ships: whole, clean, and as the judge and the cases would have them today."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest

from looptck.cassettes import Cassette, cassettes
from looptck.cassettes.cassette import chunks_path
from looptck.cassettes.check import check
from looptck.cassettes.dialects import dialect
from looptck.cassettes.form import told, told_chunks, written, written_chunks
from looptck.cassettes.scenario import kept_case
from looptck.history import Asked
from looptck.yamlfile import parse

SHIPPED = {f"{one.wire}/{one.path.stem}": one for one in cassettes()}
each = pytest.mark.parametrize("cassette", SHIPPED.values(), ids=SHIPPED)

HOSTS = re.compile(r"\w+://([^/\s\"':]*)")


def test_nothing_is_found() -> None:
    """All of them pass the command's own check."""
    assert [] == check(()).lines


def test_each_scenario_in_both_modes() -> None:
    """What was recorded was recorded plain and as a stream, but for what the server cannot say in one of them."""
    modes: dict[tuple[str, str, str], set[bool]] = defaultdict(set)
    for one in SHIPPED.values():
        modes[one.provenance.dialect, one.wire, one.scenario].add(one.stream)

    for (name, wire, scenario), recorded in modes.items():
        known = dialect(name)
        assert known
        assert {mode for mode in (False, True) if not known.silent(wire, scenario, stream=mode)} == recorded


def test_most_keep_to_their_script() -> None:
    """Nearly all of them are judged by the requirements of their cases too: the scripted model says what it should."""
    kept = [one for one in SHIPPED.values() if kept_case(one) is not None]

    assert len(kept) > 0.9 * len(SHIPPED)


@each
def test_no_host(cassette: Cassette) -> None:
    """No host but the loopback stands in it, not even one that is no secret."""
    assert set(HOSTS.findall(cassette.path.read_text(encoding="utf-8"))) <= {"127.0.0.1"}


@each
def test_turns_are_what_the_client_echoed(cassette: Cassette) -> None:
    """Two readers agree: the kit's, of the reply, and the recording client's, in the request that came next."""
    for before, after in zip(cassette.exchanges, cassette.exchanges[1:], strict=False):
        assert before.turn
        calls = [(call.id, call.tool) for call in before.turn.calls]
        new = after.request.items[len(before.request.items) :]

        assert calls == [(item.id, item.tool) for item in new if isinstance(item, Asked)]


@each
def test_file_is_as_it_would_be_written(cassette: Cassette) -> None:
    """What is read from it and written again is the file, to the byte: nobody has edited it by hand."""
    content = parse(cassette.path)
    beside = chunks_path(cassette.path)

    assert written(*told(content)) == cassette.path.read_text(encoding="utf-8")
    if beside.exists():
        chunks = parse(beside)
        assert written_chunks(chunks["cassette"], told_chunks(chunks)) == beside.read_text(encoding="utf-8")


@each
def test_chunks(cassette: Cassette) -> None:
    """Every stream has its chunks beside it, and plain replies have none."""
    assert cassette.stream == chunks_path(cassette.path).exists()
