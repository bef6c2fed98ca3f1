"""``looptck cassettes diff``: what has changed between two recordings, and what is never the same in any two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from looptck.cli.group import main
from looptck.values.plain import amount
from meta.cassettes.doctored import STREAM, WHOLE, Change, doctored, unchanged


def ran(*words: object) -> Result:
    """The command, run with these words."""
    return CliRunner().invoke(main, ["cassettes", "diff", *map(str, words)])


def changed(tmp_path: Path, change: Change, *words: str, of: Path = WHOLE) -> list[str]:
    """The lines about a change, without the name of the file."""
    path = doctored(tmp_path, change, of=of)
    result = ran(*words, of, path)
    *lines, last = result.output.splitlines()

    assert (amount(len(lines), "difference"), bool(lines)) == (last, bool(result.exit_code))
    return [line.removeprefix(f"{path}: ") for line in lines]


def reply(place: int) -> Any:
    """The JSON of a plain reply in a cassette's content."""
    return lambda it: it["interactions"][place]["response"]["body"]["json"]


@pytest.mark.parametrize("words", [[], ["--content"]])
@pytest.mark.parametrize("of", [WHOLE, STREAM], ids=["plain", "stream"])
def test_the_same(tmp_path: Path, of: Path, words: list[str]) -> None:
    """A copy is no change."""
    assert [] == changed(tmp_path, unchanged, *words, of=of)


def test_shape(tmp_path: Path) -> None:
    """What is new and what is gone, of requests and of replies, each with its place."""

    def change(it: Any) -> None:
        reply(0)(it)["mood"] = "good"
        del reply(1)(it)["timings"]
        it["interactions"][0]["request"]["body"]["json"]["seed"] = 7

    assert [
        "/interactions/0/request: new: body /seed number",
        "/interactions/0/response: new: body /mood text",
        "/interactions/1/response: gone: body /timings object",
    ] == changed(tmp_path, change)


def test_shape_of_a_stream(tmp_path: Path) -> None:
    """The same of events."""

    def change(it: Any) -> None:
        body = it["interactions"][0]["response"]["body"]
        body["text"] = body["text"].replace("data: [DONE]", 'data: {"object": "chat.completion.chunk", "choices": []}')

    assert {
        "/interactions/0/response: gone: event [DONE]",
        "/interactions/0/response: new: event chunk.empty",
    } == set(changed(tmp_path, change, of=STREAM))


def test_text_is_no_change_of_shape(tmp_path: Path) -> None:
    """What was said is compared only where the content is asked for."""

    def change(it: Any) -> None:
        reply(1)(it)["choices"][0]["message"]["content"] = "It is 19 °C in Paris."

    assert [] == changed(tmp_path, change)
    place = "/interactions/1/response/body/json/choices/0/message/content"
    assert [f'{place}: "It is 18 °C in Paris." became "It is 19 °C in Paris."'] == changed(
        tmp_path, change, "--content"
    )


def test_member_and_event_that_are_new(tmp_path: Path) -> None:
    """A missing member is reported with all members, and additional events by their number."""

    def gone(it: Any) -> None:
        del reply(1)(it)["object"]

    def longer(it: Any) -> None:
        it["interactions"][1]["response"]["body"]["text"] += "data: [DONE]\n\n"

    (members,) = changed(tmp_path, gone, "--content")
    (events,) = changed(tmp_path, longer, "--content", of=STREAM)

    assert members.startswith('/interactions/1/response/body/json: ["choices", "created"')
    assert events.startswith("/interactions/1/response/body/events: ")
    assert " entries became " in events


def test_ids_and_times_are_no_change(tmp_path: Path) -> None:
    """Two recordings of the same never have the same ids and times."""

    def change(it: Any) -> None:
        text = yaml.safe_dump(it["interactions"], sort_keys=False)
        id = reply(0)(it)["choices"][0]["message"]["tool_calls"][0]["id"]
        it["interactions"] = yaml.safe_load(text.replace(id, "another-id"))
        for place in (0, 1):
            reply(place)(it)["id"] = f"chatcmpl-{place}"
            reply(place)(it)["created"] += 1000
            reply(place)(it)["timings"]["prompt_ms"] += 0.25
        it["provenance"].update(date="2030-01-01", recorder="another")

    assert [] == changed(tmp_path, change, "--content")


def test_id_that_no_longer_fits(tmp_path: Path) -> None:
    """An id that was in two places and is now in one is a change."""

    def change(it: Any) -> None:
        it["interactions"][1]["request"]["body"]["json"]["messages"][2]["tool_calls"][0]["id"] = "another-id"

    place = "/interactions/1/request/body/json/messages/2/tool_calls/0/id"
    assert [f'{place}: "id 1" became "id 3"'] == changed(tmp_path, change, "--content")


def test_another_count(tmp_path: Path) -> None:
    """A conversation that has become shorter."""

    def change(it: Any) -> None:
        it["interactions"] = it["interactions"][1:]

    assert "/interactions: 2 became 1" in "\n".join(changed(tmp_path, change))


def test_changed_case(tmp_path: Path) -> None:
    """The same traffic of a case that has changed is not the same."""
    change: Change = lambda it: it["provenance"].update(scenario="0" * 64)  # noqa: E731

    assert ["/provenance/scenario: the recorded case has changed"] == changed(tmp_path, change, "--content")


def test_folders(tmp_path: Path) -> None:
    """Folders are compared name by name; chunks are not compared."""
    for folder in ("old", "new"):
        doctored(tmp_path / folder, of=STREAM)
    doctored(tmp_path / "old")
    doctored(tmp_path / "new", name="one-call-again-plain")
    result = ran(tmp_path / "old", tmp_path / "new")

    assert 1 == result.exit_code
    assert [
        f"openai-chat/one-call-again-plain.yaml: is in {tmp_path / 'new'} only",
        f"openai-chat/one-call-plain.yaml: is in {tmp_path / 'old'} only",
        "2 differences",
    ] == result.output.splitlines()


def test_empty_folder(tmp_path: Path) -> None:
    """An empty folder is not the same as one without differences."""
    result = ran(WHOLE.parents[1], tmp_path)

    assert 2 == result.exit_code
    assert "there is no cassette in it" in result.output


def test_a_folder_that_there_is_not(tmp_path: Path) -> None:
    """It is named as that."""
    result = ran(WHOLE.parents[1], tmp_path / "nowhere")

    assert 2 == result.exit_code
    assert "nowhere: does not exist" in result.output


def test_unreadable(tmp_path: Path) -> None:
    """A file that is no cassette."""
    result = ran(WHOLE, tmp_path / "openai-chat" / "x-plain.yaml")

    assert 2 == result.exit_code
    assert "cannot be read" in result.output
