"""Upstreams: what each of them needs, what it keeps to itself, and how its process ends."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from looptck.commands.recording import children
from looptck.commands.recording.children import ChildFailed, child
from looptck.commands.recording.upstreams import NoUpstream, Upstream, upstream

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "LOOPTCK_API_KEY")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the keys of whoever runs the tests."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


def found(word: str, model: str | None = "m") -> Upstream:
    """The upstream of this word."""
    with upstream(word, model) as one:
        return one


@pytest.mark.parametrize(
    ("word", "key", "base_url", "wires"),
    [
        ("openai", KEYS[0], "https://api.openai.com/v1", ("openai-chat", "openai-responses")),
        ("anthropic", KEYS[1], "https://api.anthropic.com/v1", ("anthropic-messages",)),
    ],
)
def test_vendors(word: str, key: str, base_url: str, wires: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """A vendor has its own address, wires and key, and no dialect."""
    monkeypatch.setenv(key, "a-key-of-theirs")

    one = found(word)

    assert (base_url, wires, "a-key-of-theirs", "", True) == (
        one.base_url,
        one.wires,
        one.key,
        one.dialect,
        one.is_vendor,
    )
    assert "a-key-of-theirs" in one.secrets
    assert "a-key-of-theirs" not in repr(one)


@pytest.mark.parametrize("word", ["openai", "anthropic"])
def test_no_key(word: str) -> None:
    """A vendor without its key is refused with the variable's name."""
    with pytest.raises(NoUpstream, match=f"{word.upper()}_API_KEY is not set"):
        found(word)


@pytest.mark.parametrize("word", ["openai", "http://127.0.0.1:1/v1"])
def test_no_model(word: str) -> None:
    """An upstream with many models is not asked for any."""
    with pytest.raises(NoUpstream, match="--model is missing"):
        found(word, None)


@pytest.mark.parametrize("word", ["azure", "127.0.0.1:8080", "ftp://example.org/v1", "http://"])
def test_no_such_upstream(word: str) -> None:
    """What is no name and no URL is refused."""
    with pytest.raises(NoUpstream, match="must be openai, anthropic, scripted or a URL"):
        found(word)


@pytest.mark.parametrize(("scheme", "model"), [("ftp", "m"), ("http", None)])
def test_address_is_not_shown(scheme: str, model: str | None) -> None:
    """What is said of an address that is refused has nothing of it, for a key may be in it."""
    with pytest.raises(NoUpstream) as refused:
        found(f"{scheme}://me:my-password@llm.acme.internal/v1?token=my-token-1", model)

    assert "the address" in str(refused.value)
    assert "my-" not in str(refused.value)


def test_ones_own_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is private in the address of one's own server is a secret."""
    one = found("https://me:my-password@llm.acme.internal/team-7/v1?token=my-token-1")

    assert {"me", "my-password", "llm.acme.internal", "my-token-1"} <= one.secrets
    assert one.key not in one.secrets
    monkeypatch.setenv("LOOPTCK_API_KEY", "my-own-key")
    assert "my-own-key" in found("http://127.0.0.1:1/v1").secrets


def test_this_machine_is_no_secret() -> None:
    """The address of a server on loopback is not secret."""
    assert "127.0.0.1" not in found("http://127.0.0.1:8080/v1").secrets


def test_what_the_sdks_send_along(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that the SDKs read are secrets, each header of theirs by itself."""
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-team: the-team\nx-cost: the-cost")

    assert {"org-mine", "the-team", "the-cost"} <= found("http://127.0.0.1:8080/v1").secrets


def _python(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def test_child_is_told_and_says() -> None:
    """A child reads a line, says one, may go on talking, and ends with its stdin."""
    text = "import sys; print(sys.stdin.readline().strip()); print('x' * 10**6); sys.stdin.read()"

    with child(_python(text), {"a": 1}) as said:
        assert {"a": 1} == said


def test_child_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that does not stop is stopped."""
    monkeypatch.setattr(children, "STOP", 0.1)
    text = "import time; print('{}', flush=True); time.sleep(600)"

    with child(_python(text)):
        pass


def test_child_whose_own_child_stays(tmp_path: Path) -> None:
    """What still has the child's output may write to it later: it is read, and by nobody who has closed it."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    stays = f"open({str(gate)!r}).read(); print('late', flush=True)"
    text = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {stays!r}]); print('{{}}', flush=True)"
    before = set(threading.enumerate())

    with child(_python(text)):
        readers = set(threading.enumerate()) - before
    gate.write_text("now")
    for one in readers:
        one.join(60)

    assert [False] == [one.is_alive() for one in readers]


def test_child_that_dies() -> None:
    """A child that ends before it is ready is reported with the end of its stderr."""
    with pytest.raises(ChildFailed, match="ZeroDivisionError"), child(_python("1 / 0"), {}):
        pass


def test_child_that_is_never_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that says nothing is waited for only so long."""
    monkeypatch.setattr(children, "START", 0.1)

    with pytest.raises(ChildFailed, match="was not ready"), child(_python("import sys; sys.stdin.read()")):
        pass
