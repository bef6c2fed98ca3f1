"""The fixture in somebody's own tests: what fails by itself, and what is allowed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CLIENT = """
import http.client, json, os
from urllib.parse import urlsplit
import pytest
from looptck import calls, says

def ask(*messages):
    url = urlsplit(os.environ["OPENAI_BASE_URL"])
    line = http.client.HTTPConnection(url.hostname, url.port)
    line.request("POST", url.path + "/chat/completions", json.dumps({"model": "m", "messages": list(messages)}))
    reply = json.loads(line.getresponse().read())
    line.close()
    return reply["choices"][0]["message"]["content"] if "choices" in reply else None

USER = {"role": "user", "content": "Hi."}
ORPHAN = {"role": "tool", "tool_call_id": "call_x", "content": "21"}
"""


def pytest_on(folder: Path, tests: str, *words: str, ini: str = "", **files: str) -> tuple[str, str]:
    """The last line and all that pytest prints for tests with a client; ``files``: further ones, by their stem."""
    (folder / "test_theirs.py").write_text(CLIENT + tests, encoding="utf-8")
    (folder / "pytest.ini").write_text(f"[pytest]\n{ini}\n", encoding="utf-8")
    for stem, text in files.items():
        (folder / f"{stem}.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
    )
    return done.stdout.strip().splitlines()[-1].partition(" in ")[0], done.stdout


def test_tests_fail_by_themselves(tmp_path: Path) -> None:
    """An orphan, answers that are left, and a request too many fail a test whose own assertions hold."""
    last, printed = pytest_on(
        tmp_path,
        """
def test_right(llm):
    llm.plays("Hello.")
    assert "Hello." == ask(USER)

def test_orphan(llm):
    llm.plays("Hello.")
    assert None is ask(USER, ORPHAN)

def test_left(looptck_llm):
    looptck_llm.plays("Hello.", calls("weather", city="Paris"))
    assert "Hello." == ask(USER)

def test_too_many(llm):
    assert None is ask(USER)
""",
    )

    assert "3 failed, 1 passed" == last
    for words in ("rule results-answer-a-call", "/messages/1/role", "calls weather", "the script has no answer"):
        assert words in printed
    assert "Traceback" not in printed


def test_a_failure_of_its_own_comes_first(tmp_path: Path) -> None:
    """Where an assertion of the test has failed, what the mock found is a section of its report."""
    last, printed = pytest_on(
        tmp_path,
        """
def test_orphan(llm):
    llm.plays("Hello.")
    assert "Hello." == ask(USER, ORPHAN)
""",
    )

    assert "1 failed" == last
    assert "assert 'Hello.' == None" in printed
    assert "rule results-answer-a-call" in printed.partition("looptck call")[2]


def test_what_is_allowed(tmp_path: Path) -> None:
    """A marker of a test, of its class, or a line of the configuration allows a kind of finding."""
    last, _ = pytest_on(
        tmp_path,
        """
@pytest.mark.looptck_llm(allow="refused")
class TestTheirs:
    def test_orphan(self, llm):
        ask(USER, ORPHAN)

    @pytest.mark.looptck_llm(allow=["beyond"])
    def test_both(self, llm):
        ask(USER, ORPHAN)
        ask(USER)

@pytest.mark.looptck_llm(judge=False)
def test_no_judge(llm):
    llm.plays("Hello.", "never")
    assert "Hello." == ask(USER, ORPHAN)
""",
        ini="looptck_allow = unplayed",
    )

    assert "3 passed" == last


def test_several_processes(tmp_path: Path) -> None:
    """Each process of pytest-xdist has a server of its own."""
    last, _ = pytest_on(
        tmp_path,
        """
@pytest.mark.parametrize("n", range(20))
def test_one(llm, n):
    llm.plays(f"number {n}")
    assert f"number {n}" == ask(USER)
""",
        "-n2",
    )

    assert "20 passed" == last


def test_async_tests(tmp_path: Path) -> None:
    """The fixture needs no event loop, and so fits any plugin for async tests."""
    last, _ = pytest_on(
        tmp_path,
        """
import asyncio

async def theirs(llm):
    llm.plays("Hello.", "Bye.")
    assert ["Bye.", "Hello."] == sorted(await asyncio.gather(*(asyncio.to_thread(ask, USER) for _ in range(2))))

def test_async(llm):
    asyncio.run(theirs(llm))
""",
    )

    assert "1 passed" == last


def test_a_fixture_of_their_own(tmp_path: Path) -> None:
    """A fixture llm of the suite is used in place of ours, which stays under its other name."""
    last, _ = pytest_on(
        tmp_path,
        """
def test_theirs(llm):
    assert "theirs" == llm

def test_ours(looptck_llm):
    looptck_llm.plays("Hello.")
    assert "Hello." == ask(USER)
""",
        conftest="import pytest\n\n@pytest.fixture(scope='session')\ndef llm():\n    return 'theirs'\n",
    )

    assert "2 passed" == last


def test_the_environment_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables of the SDKs are those of the mock in a test that asks for it, and in no other."""
    monkeypatch.setenv("OPENAI_API_KEY", "a key of theirs")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "a token of theirs")
    last, _ = pytest_on(
        tmp_path,
        """
def test_with(llm):
    assert "theirs" not in os.environ["OPENAI_API_KEY"]
    assert "ANTHROPIC_AUTH_TOKEN" not in os.environ
    assert llm.anthropic_url == os.environ["ANTHROPIC_BASE_URL"]
    assert "127.0.0.1" in os.environ["NO_PROXY"]

def test_without():
    assert "a key of theirs" == os.environ["OPENAI_API_KEY"]
    assert "ANTHROPIC_BASE_URL" not in os.environ
""",
    )

    assert "2 passed" == last


def test_requests_after_the_end(tmp_path: Path) -> None:
    """A request that a fixture's end makes is judged too."""
    last, printed = pytest_on(
        tmp_path,
        """
@pytest.fixture
def agent(llm):
    yield
    ask(USER, ORPHAN)

def test_it(agent):
    pass
""",
    )

    assert "1 passed, 1 error" == last
    assert "rule results-answer-a-call" in printed


def test_a_wrong_marker(tmp_path: Path) -> None:
    """A kind that there is not is told with the nearest."""
    _, printed = pytest_on(
        tmp_path, '\n@pytest.mark.looptck_llm(allow="refusd")\ndef test_it(llm):\n    pass\n', "--strict-markers"
    )

    assert "did you mean refused?" in printed
