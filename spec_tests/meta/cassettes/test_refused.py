"""Cassettes that cannot be played are refused, with the file and the place, and nothing of them is built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from looptck.cassettes import read
from looptck.catalogue import yaml_files, yaml_text
from looptck.catalogue.yaml_files import BadFile
from meta.cassettes.doctored import STREAM, WHOLE, Change, chunked, doctored, written


def refusal(path: Path, *, of: Path | None = None) -> str:
    """The words in which the cassette is refused, which name its file, or that of its chunks."""
    with pytest.raises(BadFile) as refused:
        read(path)
    assert (of or path) == refused.value.path
    assert str(of or path) in str(refused.value)
    return refused.value.what


def test_whole(tmp_path: Path) -> None:
    """A cassette that nothing was done to is read: what follows tests its changes and nothing else."""
    assert 2 == len(read(doctored(tmp_path)).exchanges)


def test_whole_with_chunks(tmp_path: Path) -> None:
    """The same of a stream with a file of chunks."""
    path = doctored(tmp_path, of=STREAM)
    chunked(path)

    assert [2, 2] == [len(exchange.reply.ends) for exchange in read(path).exchanges]


def test_cut_in_a_string(tmp_path: Path) -> None:
    """A file that ends too early."""
    text = WHOLE.read_text(encoding="utf-8")
    at = text.index("content: It is 18")

    assert '"interactions"' in refusal(written(tmp_path, text[: text.index("interactions:")]))
    assert "is not the YAML that was meant" in refusal(written(tmp_path, f"{text[:at]}content: 'It is"))


def test_cut_between_interactions(tmp_path: Path) -> None:
    """A file that ends too early, and is YAML all the same."""
    assert "/provenance/sha256" in refusal(doctored(tmp_path, lambda it: it["interactions"].pop(), rehashed=False))


def test_changed_reply(tmp_path: Path) -> None:
    """Recorded bytes that somebody has improved."""
    text = WHOLE.read_text(encoding="utf-8").replace("in Paris.", "in Rome.")

    assert "/provenance/sha256: is not the hash" in refusal(written(tmp_path, text))


@pytest.mark.parametrize("tag", ["apply", "new"])
def test_tag_builds_nothing(tmp_path: Path, tag: str) -> None:
    """A tag that would have a function called is refused, and the function is not called."""
    made = tmp_path / "made"
    text = WHOLE.read_text(encoding="utf-8")
    path = written(tmp_path, text.replace("version: 2", f"version: !!python/object/{tag}:os.mkdir ['{made}']"))

    assert "could not determine a constructor for the tag" in refusal(path)
    assert not made.exists()


def test_key_that_stands_twice(tmp_path: Path) -> None:
    """YAML would keep the last of them silently."""
    text = WHOLE.read_text(encoding="utf-8")

    assert "duplicate key 'version'" in refusal(written(tmp_path, f"{text}version: 2\n"))


def test_value_beyond_json(tmp_path: Path) -> None:
    """YAML makes a date of an unquoted date, which no schema can judge."""
    text = WHOLE.read_text(encoding="utf-8").replace("date: '", "date: ")
    text = "\n".join(line.rstrip("'") if line.startswith("  date: ") else line for line in text.split("\n"))

    assert "holds what JSON cannot" in refusal(written(tmp_path, text))


def test_no_such_date(tmp_path: Path) -> None:
    """An unquoted date that there is not."""
    assert "is not the YAML that was meant: month must be" in refusal(written(tmp_path, "date: 2026-99-99\n"))


def test_very_large_body(tmp_path: Path) -> None:
    """A file of a hundred megabytes is refused by its size, before anything of it is read."""
    path = written(tmp_path, "")
    with path.open("r+b") as file:
        file.truncate(100 * 1024 * 1024)

    assert f"is too large: {100 * 1024 * 1024} bytes, where {yaml_files.MOST} are the most" == refusal(path)


def test_alias_bomb(tmp_path: Path) -> None:
    """A few lines that expand to more than fits into memory are refused at the first alias."""
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60))]

    assert "contains an alias, which is not allowed here" in refusal(written(tmp_path, "\n".join(lines)))


@pytest.mark.parametrize("deep", ["[" * 100_000, "- " * 100_000, "{a: " * 50_000])
def test_very_deep(tmp_path: Path, deep: str) -> None:
    """A file that the YAML library itself would crash on is refused, in a process that lives on."""
    path = written(tmp_path, deep)
    code = "import sys; from pathlib import Path; from looptck.cassettes import read; read(Path(sys.argv[1]))"

    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)

    assert 1 == ran.returncode
    assert f"is nested more than {yaml_text.DEEPEST} deep" in ran.stderr


@pytest.mark.parametrize(
    ("place", "field"),
    [
        ("", "provenance"),
        ("", "interactions"),
        ("/provenance", "sha256"),
        ("/provenance", "upstream"),
        ("/provenance", "scenario"),
        ("/provenance", "dialect"),
        ("/interactions/0", "response"),
        ("/interactions/0/request", "path"),
        ("/interactions/0/request/body", "json"),
        ("/interactions/1/response", "status"),
        ("/interactions/1/response/headers", "content-type"),
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


_REQUEST: dict[str, Any] = {"json": {"messages": []}}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_put(0, "request", body={"json": "x"}), "/interactions/0/request/body/json"),
        (_put(0, "request", path="https://api.example.com/v1/chat/completions"), "/interactions/0/request/path"),
        (_put(0, "request", path="/v1/messages"), "/interactions/0/request/path: the path of openai-chat is /v1"),
        (_put(0, "request", headers={"authorization": "x"}), "/interactions/0/request/headers"),
        (_put(0, "response", headers={"content-type": "x", "set-cookie": "x"}), "/interactions/0/response/headers"),
        (_put(1, "request", body=_REQUEST), "/interactions/1/request/body: does not answer the call"),
        (_put(0, "request", body={"json": {"messages": [], "stream": True}}), "asks for the other mode"),
        (_put(1, "response", body={"text": "{}"}), "/interactions/1/response/body: holds no turn"),
        (_put(1, "response", body={"text": ""}), "/interactions/1/response/body: holds no turn"),
        (_put(1, "response", body={"base64": "x!"}), "/interactions/1/response/body/base64: is invalid"),
        (_put(1, "response", body={"base64": "/w=="}), "/interactions/1/response/body: holds no turn"),
        (_put(1, "response", body={"text": "", "base64": ""}), "/interactions/1/response/body: "),
        (_put(0, "response", status=500), "/interactions/0/response: holds no turn, but the conversation goes on"),
        (_put(0, "response", broken=True), "/interactions/0/response: holds no turn, but the conversation goes on"),
        (lambda content: content["interactions"].pop(), "/interactions/0/response: the last turn still asks for tools"),
        (lambda content: content.update(extra=1), "extra"),
        (lambda content: content.update(version=1), "/version"),
    ],
    ids=[
        "request-is-no-object",
        "foreign-host",
        "another-wires-path",
        "header-not-allowed",
        "cookie-kept",
        "call-without-result",
        "other-mode",
        "reply-is-no-turn",
        "reply-is-empty",
        "wrong-base64",
        "reply-is-no-text",
        "two-bodies",
        "error-in-the-middle",
        "break-in-the-middle",
        "unfinished",
        "unknown-key",
        "old-form",
    ],
)
def test_wrong_content(tmp_path: Path, change: Change, words: str) -> None:
    """What is in it must be a whole conversation on its wire, with nothing private."""
    assert words in refusal(doctored(tmp_path, change))


def test_broken_event(tmp_path: Path) -> None:
    """A stream with half an event in it holds no turn."""
    half = _put(
        1,
        "response",
        headers={"content-type": "text/event-stream"},
        body={"text": 'data: {"choices":[\n\ndata: [DONE]\n\n'},
    )

    assert "/interactions/1/response/body: holds no turn" in refusal(doctored(tmp_path, half))


def _set(place: int, name: str, value: list[float]) -> Change:
    return lambda content: content["interactions"][place].update({name: value})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda content: content.update(cassette="0" * 64), "/cassette: is not the hash of the cassette"),
        (lambda content: content["interactions"].pop(), "/interactions: there are 1, but the cassette has 2"),
        (_set(1, "ends", [1, 2]), "/interactions/1/ends: must increase to the length of the body"),
        (_set(0, "ends", []), "/interactions/0/ends: must increase to the length of the body"),
        (_set(0, "ends", [7, 3]), "/interactions/0/ends: must increase to the length of the body"),
        (_set(1, "ms", [2, 1]), "/interactions/1/ms: must increase, one for each chunk"),
        (_set(1, "ms", [2]), "/interactions/1/ms: must increase, one for each chunk"),
        (_set(1, "ms", [-1, 2]), "/interactions/1/ms/0"),
        (lambda content: content.update(extra=1), "extra"),
    ],
    ids=["another-hash", "too-few", "too-short", "none", "backwards", "time-backwards", "no-time", "before", "unknown"],
)
def test_wrong_chunks(tmp_path: Path, change: Change, words: str) -> None:
    """The file of chunks has to fit its cassette."""
    path = doctored(tmp_path, of=STREAM)

    assert words in refusal(path, of=chunked(path, change))


def test_name_without_a_mode(tmp_path: Path) -> None:
    """The name says how it was recorded."""
    assert "must end in -plain or -stream" in refusal(doctored(tmp_path, name="one-call"))


def test_name_of_the_other_mode(tmp_path: Path) -> None:
    """The name and the requests say the same."""
    assert "asks for the other mode" in refusal(doctored(tmp_path, name="one-call-stream"))


def test_no_such_wire(tmp_path: Path) -> None:
    """The folder is the wire's name."""
    path = doctored(tmp_path, wire="openai-chats")

    assert "there is no wire 'openai-chats'; did you mean openai-chat" in refusal(path)


def test_no_such_file(tmp_path: Path) -> None:
    """A cassette that is not there."""
    assert "cannot be read" in refusal(tmp_path / "openai-chat" / WHOLE.name)
