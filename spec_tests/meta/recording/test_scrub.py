"""Redaction: masks as long as what they hide, and refusals where no mask can reach."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.cassettes.decoded import Written, readings
from looptck.cassettes.scrub import IN_USE, Leak, Scrubber, texts_of_turn
from looptck.cassettes.secrets import secrets
from looptck.values.turns import Call, calls

SECRET = "canary/Käfig-7f3a"  # noqa: S105  a made-up one


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(SECRET, id="as it is"),
        pytest.param(json.dumps(SECRET), id="in JSON, escaped"),
        pytest.param("https://example.org/?key=canary%2FK%C3%A4fig-7f3a", id="in a URL"),
        pytest.param("Basic Y2FuYXJ5L0vDpGZpZy03ZjNh", id="in base64"),
    ],
)
def test_secret_in_use(text: str) -> None:
    """A secret in use is masked in each of its spellings."""
    masked = Scrubber([SECRET]).text(f"so {text}, really")

    assert not any(part in masked for part in ("fig-7f3a", "GZpZy03ZjNh"))
    assert masked.startswith("so ")
    assert masked.endswith(", really")


@given(st.text(), st.text(min_size=8), st.text())
def test_length_is_kept(before: str, secret: str, after: str) -> None:
    """Masked bytes are as many as before, so that borders stay true."""
    body = (before + secret + after).encode(errors="surrogatepass")

    assert len(body) == len(Scrubber([secret]).body(body))


def test_bytes_that_are_no_text() -> None:
    """Bytes that are not UTF-8 stay, and a secret next to them is masked."""
    assert b"\xff\xfe " + b"*" * 18 == Scrubber([SECRET]).body(b"\xff\xfe " + SECRET.encode())


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('{"request_id":"req_011CSHoEeqs5C35K2UUqR7Fy"}', '{"request_id":"***…"}'),
        ('{"organization":"acme-research"}', '{"organization":"***…"}'),
        ("Incorrect API key provided: sk-proj-abc123def456.", "Incorrect API key provided: ***…."),
        ('airtable_token = "xb3nyjqwx4hh5344t"', 'airtable_token = "***…"'),
        ("export BUNDLE_EXAMPLE_KEY=f7ce1de8:a1b1a1e6", "export BUNDLE_EXAMPLE_KEY=***…"),
        ("curl -sv --user 'johns:h0pk1ns~21s' https://x", "curl -sv --user 'johns:***…' https://x"),
        ("Bearer abcdefgh12345678 was refused", "Bearer ***… was refused"),
        ("write to jane.roe@acme.example.co.uk", "write to ***…"),
        ("from 203.0.113.77 at noon", "from ***… at noon"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "***…"),
    ],
)
def test_what_has_the_look_of_one(text: str, masked: str) -> None:
    """Keys, tokens, addresses and ids of people and accounts are masked without being known, and nothing around."""
    scrubber = Scrubber([])

    done = scrubber.text(text)

    start, _, end = masked.partition("***…")
    assert done.startswith(start)
    assert done.endswith(end)
    assert set(done[len(start) : len(done) - len(end)]) == {"*"}
    scrubber.leaks("here", [done])


def test_ordinary_text_is_left() -> None:
    """Ordinary text about the weather holds no secret."""
    text = '{"id":"chatcmpl-q8EuPlPfyQqqBT7g","text":"18.5 °C at 12:30:00, version 1.2.3, see you@home"}'

    assert text == Scrubber(["short"]).text(text)


def test_masked_is_counted() -> None:
    """Each mask is counted by what it hides, for the provenance; overlapping ones once."""
    scrubber = Scrubber([SECRET])

    scrubber.text(f"{SECRET} {SECRET} req_0123456789")

    assert {IN_USE: 2, "a request id": 1} == dict(scrubber.masked)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"text": SECRET}, id="a value"),
        pytest.param({SECRET: 1}, id="a name"),
        pytest.param([[{"a": [1, SECRET]}]], id="deep"),
    ],
)
def test_escapes_are_seen_through(body: object) -> None:
    """A secret in a spelling that only JSON resolves is masked, in JSON and in events."""
    text = "".join(f"\\u{ord(letter):04x}" if letter in SECRET else letter for letter in json.dumps(body))
    text = text if json.loads(text) == body else json.dumps(body).replace("canary", "\\u0063anary")
    for written in (text, f"event: x\ndata: {text}\n\n"):
        scrubber = Scrubber([SECRET])

        with pytest.raises(Leak, match="here: a secret in use"):
            scrubber.leaks("here", readings(written.encode()))
        masked = scrubber.body(written.encode())

        scrubber.leaks("here", readings(masked))
        assert len(written.encode()) == len(masked)
        assert written.count("\n") == masked.count(b"\n")
        json.loads(masked.decode().removeprefix("event: x\ndata: "))


def test_pieces_are_joined() -> None:
    """A secret that is sent in pieces is masked in all of them, whatever the member is called."""
    events = [{"delta": {"odd": piece}, "id": "same"} for piece in ("my can", "ary/Käf", "ig-7f3a")]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()

    for spread in (body, body.replace(b": {", b": {\r\ndata: ").replace(b"\n\n", b"\r\n\r\n")):
        with pytest.raises(Leak):
            Scrubber([SECRET]).leaks("here", readings(spread))
        masked = Scrubber([SECRET]).body(spread)

        Scrubber([SECRET]).leaks("here", readings(masked))
        assert not any(piece in masked for piece in (b"can", b"ary", b"fig", b"7f3a"))
        assert b"my ***" in masked


def test_what_is_the_same_in_all_events_is_not_joined() -> None:
    """A member that repeats itself is no text in pieces."""
    body = b'data: {"v":"1.2.3."}\n\n' * 3

    Scrubber(["3.1.2.3.1"]).leaks("here", readings(body))


def test_interleaved_calls_are_joined() -> None:
    """What the kit understood is searched too: arguments of several calls may come in turns."""
    turn = calls(Call("note", json.dumps({"text": SECRET}, ensure_ascii=False)))

    with pytest.raises(Leak):
        Scrubber([SECRET]).leaks("here", texts_of_turn(turn))


@pytest.mark.parametrize("word", ["a", "A", "_", "1.", "a_token=", "token:", "sk-", "curl -u ", "secret "])
def test_long_words_are_read_once(word: str) -> None:
    """Many characters without an end take no time, where looking on from each of them would take minutes."""
    assert [] == [one for one in secrets(word * (40_000 // len(word))) if one.kind == "an e-mail address"]


def test_long_text_takes_little_memory() -> None:
    """Characters that are written one after the other keep one range, also in a string of JSON and in a part of it."""
    (_, string) = (reading for reading in readings(json.dumps(["word " * 1000]).encode()))

    part = string.part(5, 4000)

    assert isinstance(part.places, Written)
    assert ((7, 4002),) == part.spans(0, 3995)
    assert ((8, 9),) == part.places[1]
