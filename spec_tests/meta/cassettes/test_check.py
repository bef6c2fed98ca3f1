"""``looptck cassettes check``: findings in cassettes that can be played, and their places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from looptck.cassettes.check import check
from looptck.cassettes.secrets import secrets
from looptck.catalogue.data import cassette
from looptck.cli.group import main
from meta.cassettes.doctored import STREAM, WHOLE, Change, chunked, doctored, written


def ran(*words: object) -> Result:
    """The command, run with these words."""
    return CliRunner().invoke(main, ["cassettes", "check", *map(str, words)])


def findings(path: Path) -> list[str]:
    """What is found in it, without its name."""
    return [line.removeprefix(f"{path}: ") for line in check([path]).lines]


def test_clean(tmp_path: Path) -> None:
    """A good cassette, by itself, in a folder, and by the file of its chunks."""
    path = doctored(tmp_path, of=STREAM)
    chunks = chunked(path)

    for what in (path, tmp_path, path.parent, chunks):
        result = ran(what)
        assert (0, "0 findings in 1 cassette\n") == (result.exit_code, result.output)


def test_findings_are_told(tmp_path: Path) -> None:
    """Each is a line with the file and the place, and the exit status says that there are some."""
    path = doctored(tmp_path, lambda it: it["provenance"].update(scenario="0" * 64))
    result = ran(path)

    assert 1 == result.exit_code
    assert result.output.startswith(
        f"{path}: /provenance/scenario: the case one-call has changed since it was recorded; record it again"
    )
    assert result.output.endswith("1 finding in 1 cassette\n")


def test_another_file_keeps_its_name(tmp_path: Path) -> None:
    """A file that is no cassette is named as it was given."""
    path = tmp_path / "results.json"
    path.write_text("{}", encoding="utf-8")

    assert ran(path).output.startswith(f"{path}: /: ")


@pytest.mark.parametrize("where", ["nowhere", "empty"])
def test_nothing_to_check(tmp_path: Path, where: str) -> None:
    """A path with nothing to check could not be checked, which is not the same as clean."""
    (tmp_path / "empty").mkdir()
    result = ran(tmp_path / where)

    assert 2 == result.exit_code
    assert where in result.output


def test_broken_one_beside_good_ones(tmp_path: Path) -> None:
    """A cassette that cannot be played is reported, and the others are checked."""
    doctored(tmp_path, lambda it: it["provenance"].update(scenario="0" * 64))
    written(tmp_path, "'", name="chain-plain")
    result = ran(tmp_path)

    assert 1 == result.exit_code
    assert "chain-plain.yaml: is not the YAML that was meant" in result.output
    assert "one-call-plain.yaml: /provenance/scenario" in result.output


def test_chunks_without_a_cassette(tmp_path: Path) -> None:
    """Chunks whose cassette is gone."""
    path = doctored(tmp_path, of=STREAM)
    chunked(path)
    path.unlink()

    assert "cannot be read" in ran(tmp_path).output


def _message(text: str) -> Change:
    return lambda it: it["interactions"][1]["response"]["body"]["json"]["choices"][0]["message"].update(content=text)


CANARIES = {
    "a key of OpenAI": "sk-proj-canary12345678",
    "a bearer token": "Bearer canary123456",
    "a value of a header that names its sender": "x-api-key: canary",
    "a key of JSON web token": "eyJjYW5hcnkx.eyJjYW5hcnkx.c2ln",
    "a private key": "-----BEGIN RSA PRIVATE KEY-----",
    "an id of an organisation, a project, an account or a user": "org-canary12345",
    "a request id": "req_011CSHoEeqs5C35K2UUqR7Fy",
    "an e-mail address": "canary@example.org",
    "an IP address": "203.0.113.7",
    "a path of a machine": "/home/canary/x",
}


@pytest.mark.parametrize("kind", CANARIES)
def test_secret_in_a_reply(tmp_path: Path, kind: str) -> None:
    """A secret in the model's words is reported by its kind, and never shown."""
    path = doctored(tmp_path, _message(f"It is {CANARIES[kind]} today."))
    found = ran(path).output

    assert f"holds {kind}, of " in found
    assert "canary" not in found


@pytest.mark.parametrize("kind", CANARIES)
def test_mask(kind: str) -> None:
    """Each secret is found as what it is, and no longer once it is masked."""
    text = f"It is {CANARIES[kind]} today."
    for secret in list(secrets(text)):
        text = text[: secret.start] + "*" * (secret.end - secret.start) + text[secret.end :]

    assert kind in {secret.kind for secret in secrets(CANARIES[kind])}
    assert [] == list(secrets(text))


@pytest.mark.parametrize(
    "text",
    [
        "chatcmpl-wnR3y0YagsLIg7zLhi2dY3Tv4LbsKdpF",
        "call_PsYoIQerQKiABmV5Pg8mAXTq toolu_01A09q90qw90lq917835lq9 msg_01XFDUDYJgAACzvnptvVoYEL",
        "xllamacpp 2026.10.11549, openai 3.54.0, at 10:20:30, on 127.0.0.1",
        "the user_question of a risk-management task, C:\\new\\line",
        '{"user": null, "request_id": "****", "metadata": {}}',
    ],
)
def test_harmless(text: str) -> None:
    """Ids of replies and calls, versions, times and the loopback are none."""
    assert [] == list(secrets(text))


def test_secret_in_a_request(tmp_path: Path) -> None:
    """A request is searched too, and what its JSON escapes as well."""
    path = doctored(
        tmp_path, lambda it: it["interactions"][0]["request"]["body"]["json"].update(user="canary\x40example.org")
    )

    assert ["holds an e-mail address, of 18 characters"] == findings(path)


def test_secret_split_over_two_deltas(tmp_path: Path) -> None:
    """A secret that is one only once the deltas are joined is found."""
    path = doctored(
        tmp_path,
        lambda it: it["interactions"][1]["response"]["body"].update(
            text="".join(
                f'data: {{"object":"chat.completion.chunk","choices":[{{"index":0,"delta":{{"content":"{part}"}},'
                f'"finish_reason":{finish}}}]}}\n\n'
                for part, finish in (("sk-proj-ca", "null"), ("nary123456", '"stop"'))
            )
        ),
        of=STREAM,
    )

    assert "/interactions/1/response/body: holds a key of OpenAI, of 20 characters" in findings(path)


def test_secret_in_a_comment(tmp_path: Path) -> None:
    """A secret in a comment is found too."""
    text = WHOLE.read_text(encoding="utf-8")

    assert ["holds a key of the usual form, of 17 characters"] == findings(
        written(tmp_path, f"# sk-canary12345678\n{text}")
    )


def test_refused_request(tmp_path: Path) -> None:
    """A recorded request that the judge refuses is reported with its place and the rule."""

    def orphan(content: Any) -> None:
        request = content["interactions"][1]["request"]["body"]["json"]
        request["messages"] = [message for message in request["messages"] if message["role"] != "assistant"]

    (line,) = findings(doctored(tmp_path, orphan))

    assert line.startswith("/interactions/1/request/body/json/messages/2/role: the judge refuses it")


def test_scenario_that_nobody_declares(tmp_path: Path) -> None:
    """A name that no case has."""
    (line,) = findings(doctored(tmp_path, name="one-cal-plain"))

    assert "there is no scenario 'one-cal'; did you mean one-call" in line


def test_recording_of_another_case(tmp_path: Path) -> None:
    """A good recording under the name of another case: its hash of the scenario gives it away."""
    (line,) = findings(doctored(tmp_path, name="chain-plain"))

    assert line.startswith("/provenance/scenario: the case chain has changed since")


def test_other_prompt(tmp_path: Path) -> None:
    """A request that does not ask what the case asks."""

    def ask(content: Any) -> None:
        for one in content["interactions"]:
            one["request"]["body"]["json"]["messages"][1]["content"] = "What is the weather in Rome?"

    (line,) = findings(doctored(tmp_path, ask))

    assert line.startswith("/interactions/0/request/body: is not the prompt of the case one-call")


def test_undeclared_deviation(tmp_path: Path) -> None:
    """What the dialect does not know, with the file that shows it."""
    found = ran(doctored(tmp_path, lambda it: it["interactions"][1]["response"]["body"]["json"].update(mood="good")))

    assert "llama.cpp: openai-chat: recorded and never written: body /mood text (one-call-plain.yaml)" in found.output


def test_vendors_own(tmp_path: Path) -> None:
    """A recording that claims to be the vendor's own may not deviate at all."""
    found = ran(doctored(tmp_path, lambda it: it["provenance"].update(dialect="")))

    assert "the vendor: openai-chat: recorded and never written: body /timings object" in found.output


def test_unknown_dialect(tmp_path: Path) -> None:
    """A dialect that no file describes."""
    found = ran(doctored(tmp_path, lambda it: it["provenance"].update(dialect="lama.cpp")))

    assert "there is no dialect 'lama.cpp'; did you mean llama.cpp" in found.output


def test_unsupported_and_recorded(tmp_path: Path) -> None:
    """A recording of what the dialect says cannot be recorded."""
    answer = cassette("anthropic-messages/answer-looks-like-json-plain.yaml")
    found = ran(doctored(tmp_path, of=answer, name="answer-looks-like-a-call-plain"))

    assert "llama.cpp.yaml: /unsupported: answer-looks-like-a-call on anthropic-messages was recorded" in found.output
