"""Selection: which recordings of a folder represent their structures, and which are odd."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from looptck.cassettes import Cassette, files, read
from looptck.cassettes.cassette import chunks_path
from looptck.cassettes.selection import groups, select, structure
from looptck.catalogue.data import cassette
from looptck.catalogue.yaml_files import BadFile
from looptck.cli.group import main
from meta.cassettes.doctored import STREAM, WHOLE, Change, chunked, doctored

PARALLEL = cassette("openai-chat/parallel-calls-plain.yaml")
MESSAGES = cassette("anthropic-messages/one-call-plain.yaml")
ODD = {"openai-chat/odd-plain": "It is odd."}


def ran(*words: object) -> Result:
    """The command, run with these words."""
    return CliRunner().invoke(main, ["cassettes", *map(str, words)])


def grouped(*paths: Path) -> list[tuple[str, list[str], list[str]]]:
    """The representative, the others and the odd ones of each group, by their scenarios."""
    found = groups([read(path) for path in paths], ODD)
    return [
        (one.representative.scenario, [other.scenario for other in one.others], [odd.scenario for odd in one.odd])
        for one in found
    ]


def changed(folder: Path, change: Change, of: Path = WHOLE) -> Cassette:
    """A recording with a change."""
    return read(doctored(folder, change, of=of))


def first(content: Any) -> Any:
    """The first reply of a recording's content."""
    return content["interactions"][0]["response"]


def arguments(content: Any) -> None:
    """Another argument in the call of a plain reply of Messages."""
    (call,) = (block for block in first(content)["body"]["json"]["content"] if block["type"] == "tool_use")
    call["input"]["wind"] = 3


def test_what_is_said_is_no_structure(tmp_path: Path) -> None:
    """Texts, and the arguments of calls whatever they are, do not count."""
    text: Change = lambda it: it["interactions"][1]["response"]["body"]["json"]["choices"][0]["message"].update(  # noqa: E731
        content="Rain."
    )

    assert structure(read(WHOLE)) == structure(changed(tmp_path, text))
    assert structure(read(MESSAGES)) == structure(changed(tmp_path, arguments, MESSAGES))


def new_member(content: Any) -> None:
    """A member that other recordings lack."""
    first(content)["body"]["json"]["mood"] = "good"


def new_type(content: Any) -> None:
    """A number in place of a text."""
    first(content)["body"]["json"]["model"] = 1


def new_event(content: Any) -> None:
    """An event at the end of a stream."""
    first(content)["body"]["text"] += 'data: {"type": "mood"}\n\n'


def twice(content: Any) -> None:
    """The events of a stream, once more behind the others."""
    body = first(content)["body"]
    body["text"] = body["text"].replace("data: [DONE]\n\n", "") + body["text"]


def broken(content: Any) -> None:
    """A last reply that broke off behind its bytes."""
    content["interactions"][-1]["response"]["broken"] = True


@pytest.mark.parametrize(
    ("change", "of"),
    [(new_member, WHOLE), (new_type, WHOLE), (new_event, STREAM), (twice, STREAM), (broken, STREAM)],
    ids=["member", "type", "event", "order of events", "break"],
)
def test_structure(tmp_path: Path, change: Change, of: Path) -> None:
    """Members, types, events and what follows which count, and so does a break."""
    assert structure(read(of)) != structure(changed(tmp_path, change, of))


def test_most_requirements_represent(tmp_path: Path) -> None:
    """The recording on which most requirements are judged represents its structure, then the shortest by name."""
    again = doctored(tmp_path, name="again-plain")
    also = doctored(tmp_path, name="also-plain")

    assert [("parallel-calls", ["one-call", "again", "also"], [])] == grouped(also, again, WHOLE, PARALLEL)


def test_odd_ones_represent_nothing_else(tmp_path: Path) -> None:
    """An odd recording is selected as well as the representative; if all are odd, the first is the representative."""
    odd = doctored(tmp_path, name="odd-plain")

    assert [("one-call", [], ["odd"])] == grouped(odd, WHOLE)
    assert [("odd", [], ["odd"])] == grouped(odd)
    assert ["odd"] == [one.scenario for one in groups([read(odd)], ODD)[0].selected]


def test_modes_wires_and_servers_apart(tmp_path: Path) -> None:
    """Recordings in two modes, on two wires or of two servers are never compared."""
    other = doctored(tmp_path, lambda content: content["provenance"].update(dialect=""), name="other-plain")

    assert ["one-call", "one-call", "one-call", "other"] == [row[0] for row in grouped(WHOLE, STREAM, MESSAGES, other)]


def test_select(tmp_path: Path) -> None:
    """One of each structure is copied to the byte, with its chunks."""
    source, target = tmp_path / "source", tmp_path / "target"
    stream = doctored(source, of=STREAM)
    chunked(stream)
    doctored(source, of=STREAM, name="another-stream")
    plain = doctored(source)

    result = ran("select", source, target)

    assert (0, ["openai-chat/one-call-plain", "openai-chat/one-call-stream", "2 cassettes"]) == (
        result.exit_code,
        result.output.splitlines(),
    )
    for path in (plain, stream, chunks_path(stream)):
        assert path.read_bytes() == (target / path.relative_to(source)).read_bytes()
    assert 2 == len(list(files(target)))


def test_select_leaves_what_is_there(tmp_path: Path) -> None:
    """A folder that has cassettes is no target."""
    doctored(tmp_path)

    with pytest.raises(BadFile, match="has cassettes already"):
        select(tmp_path, tmp_path)
    assert 2 == ran("select", tmp_path, tmp_path).exit_code


def test_structures(tmp_path: Path) -> None:
    """Each structure with the recording that represents it, the others of it, and the odd ones with their reasons."""
    for name in ("mine-plain", "another-plain", "escapes-in-arguments-stream"):
        doctored(tmp_path, name=name, of=STREAM if name.endswith("stream") else WHOLE)
    doctored(tmp_path, of=STREAM)

    result = ran("structures", tmp_path)

    assert 0 == result.exit_code
    plain, stream, odd, total = result.output.splitlines()
    assert ("openai-chat/another-plain: also mine", "openai-chat/one-call-stream") == (plain, stream)
    assert odd.startswith("    openai-chat/escapes-in-arguments-stream is odd: Arguments have")
    assert "2 structures in 4 cassettes, of which 3 are selected" == total


def test_structures_of_an_empty_folder(tmp_path: Path) -> None:
    """A folder without cassettes."""
    assert 2 == ran("structures", tmp_path).exit_code
