"""Cassettes that cannot be played are refused, with the file and the place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from looptck.cassettes import read
from looptck.yamlfile import BadFile
from meta.cassettes.doctored import WHOLE, doctored, written

Change = Callable[[Any], object]


def unchanged(content: object) -> None:
    """Leaves the cassette as it is."""


def refusal(path: Path) -> str:
    """The words in which the cassette is refused, which name its file."""
    with pytest.raises(BadFile) as refused:
        read(path)
    assert path == refused.value.path
    assert str(path) in str(refused.value)
    return refused.value.what


def test_whole(tmp_path: Path) -> None:
    """A cassette that nothing was done to is read: what follows tests its changes and nothing else."""
    assert 2 == len(read(doctored(tmp_path, unchanged)).exchanges)


def test_cut_in_a_string(tmp_path: Path) -> None:
    """A file that ends too early."""
    text = WHOLE.read_text(encoding="utf-8")

    assert "is not the YAML that was meant" in refusal(written(tmp_path, text[: len(text) // 2]))


def test_cut_between_interactions(tmp_path: Path) -> None:
    """A file that ends too early, and is YAML all the same."""
    assert "/provenance/sha256" in refusal(doctored(tmp_path, lambda it: it["interactions"].pop(), rehashed=False))


def test_changed_reply(tmp_path: Path) -> None:
    """Recorded bytes that somebody has improved."""
    text = WHOLE.read_text(encoding="utf-8").replace("sunny in Paris", "rainy in Paris")

    assert "/provenance/sha256: is not the hash" in refusal(written(tmp_path, text))


def test_tag_builds_nothing(tmp_path: Path) -> None:
    """A tag that would have a function called is refused, and the function is not called."""
    made = tmp_path / "made"
    text = WHOLE.read_text(encoding="utf-8")
    path = written(tmp_path, text.replace("version: 1", f"version: !!python/object/apply:os.mkdir ['{made}']"))

    assert "could not determine a constructor for the tag" in refusal(path)
    assert not made.exists()


def test_value_beyond_json(tmp_path: Path) -> None:
    """YAML makes a date of an unquoted date, which no schema can judge."""
    text = WHOLE.read_text(encoding="utf-8")

    assert "holds what JSON cannot" in refusal(
        written(tmp_path, text.replace("date: '2026-11-21'", "date: 2026-11-21"))
    )


@pytest.mark.parametrize(
    ("place", "field"),
    [
        ("", "provenance"),
        ("", "interactions"),
        ("/provenance", "sha256"),
        ("/provenance", "upstream"),
        ("/interactions/0", "response"),
        ("/interactions/0/request", "body"),
        ("/interactions/1/response", "status"),
        ("/interactions/1/response/headers", "content-type"),
        ("/interactions/1/response/body", "string"),
    ],
)
def test_missing_field(tmp_path: Path, place: str, field: str) -> None:
    """Whatever the format asks for must be there."""

    def remove(content: Any) -> None:
        for part in place.split("/")[1:]:
            content = content[int(part) if part.isdigit() else part]
        del content[field]

    what = refusal(doctored(tmp_path, remove, rehashed=False))

    assert f'{place or "/"}: "{field}" is a required property' in what


def _put(place: int, side: str, **fields: Any) -> Change:
    return lambda content: content["interactions"][place][side].update(fields)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_put(0, "request", body="{"), "/interactions/0/request/body: is no JSON"),
        (_put(0, "request", uri="https://api.example.com/v1/chat/completions"), "/interactions/0/request/uri"),
        (_put(0, "request", headers={"authorization": ["x"]}), "/interactions/0/request/headers"),
        (_put(1, "request", body='{"messages": []}'), "/interactions/1/request/body: does not answer the call"),
        (_put(0, "request", body='{"messages": [], "stream": true}'), "asks for the other mode"),
        (_put(1, "response", body={"string": "{}"}), "/interactions/1/response/body/string: says no turn"),
        (lambda content: content["interactions"].pop(), "/interactions/0/response: the last turn still asks for tools"),
        (lambda content: content.update(extra=1), "extra"),
    ],
    ids=[
        "request-is-no-json",
        "foreign-host",
        "header-not-allowed",
        "call-without-result",
        "other-mode",
        "reply-is-no-turn",
        "unfinished",
        "unknown-key",
    ],
)
def test_wrong_content(tmp_path: Path, change: Change, words: str) -> None:
    """What is in it must be a whole conversation on its wire, with nothing private."""
    assert words in refusal(doctored(tmp_path, change))


def test_broken_event(tmp_path: Path) -> None:
    """A stream with half an event in it says no turn."""

    def halve(content: Any) -> None:
        content["interactions"][1]["response"] = {
            "status": {"code": 200, "message": "OK"},
            "headers": {"content-type": ["text/event-stream"]},
            "body": {"string": 'data: {"choices":[\n\ndata: [DONE]\n\n'},
        }

    assert "/interactions/1/response/body/string: says no turn" in refusal(doctored(tmp_path, halve))


def test_name_without_a_mode(tmp_path: Path) -> None:
    """The name says how it was recorded."""
    assert "neither -plain nor -stream" in refusal(doctored(tmp_path, unchanged, name="one-call"))


def test_name_of_the_other_mode(tmp_path: Path) -> None:
    """The name and the requests say the same."""
    assert "asks for the other mode" in refusal(doctored(tmp_path, unchanged, name="one-call-stream"))


def test_no_such_wire(tmp_path: Path) -> None:
    """The folder is the wire's name."""
    path = tmp_path / "openai-chats" / WHOLE.name
    path.parent.mkdir()
    path.write_bytes(WHOLE.read_bytes())

    assert "there is no wire 'openai-chats'; did you mean openai-chat" in refusal(path)


def test_no_such_file(tmp_path: Path) -> None:
    """A cassette that is not there."""
    assert "cannot be read" in refusal(tmp_path / "openai-chat" / WHOLE.name)
