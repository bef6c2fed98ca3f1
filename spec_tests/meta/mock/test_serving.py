"""`looptck serve`: the provider alone on a port, its control API, and what it prints."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from looptck.catalogue.data import json_fixture
from looptck.catalogue.yaml_files import BadFile
from looptck.cli.group import main
from looptck.commands.serve import ServeOptions, serve
from looptck.mock import endpoint
from looptck.mock.script_file import read_text
from looptck.mock.serving import KEEPS, Serving
from looptck.provider.server import Provider
from looptck.values.transcript import Received
from meta.mock.clients import ORPHANS, ROUTES, ask, body, post, text

SCHEMA = json_fixture("control.schema.json")
PROGRAM = """
import json, os, urllib.request
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi."}]}).encode()
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
print(json.load(urllib.request.urlopen(url, body))["choices"][0]["message"]["content"])
"""


@pytest.fixture
def url() -> Iterator[str]:
    """The address of a served script of two turns."""
    with Provider(0, Serving(read_text("mine", "script: [one, two]")).answer) as provider:
        yield provider.origin


def _control(url: str, what: str, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    status, _, raw = post(f"{url}/looptck/{what}", b"", headers, method="GET")
    found = json.loads(raw)
    if status == 200:
        jsonschema.Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{what}"}).validate(found)
    return status, found


def test_all_wires_at_one_address(url: str) -> None:
    """The script goes on, whichever wire asks."""
    assert "one" == text("openai-chat", ask(url, "openai-chat", "Hi.")[1])
    assert "two" == text("anthropic-messages", ask(url, "anthropic-messages", "Hi.")[1])
    assert 400 == ask(url, "openai-responses", "Hi.")[0]


def test_verdicts(url: str) -> None:
    """They say what was wrong, and whether the script was played to its end."""
    assert "fail" == _control(url, "verdicts")[1]["verdict"]
    ask(url, "openai-chat", "Hi.")
    ask(url, "openai-chat", *ORPHANS["openai-chat"])
    ask(url, "openai-chat", "Hi.")
    _, found = _control(url, "verdicts")

    assert ("fail", 3, 2, 0) == tuple(found[name] for name in ("verdict", "requests", "played", "left"))
    (finding,) = found["findings"]
    assert ("refused", 2, "results-answer-a-call") == (
        finding["kind"],
        finding["request"],
        finding["problems"][0]["rule"],
    )


def test_a_new_script_begins_anew(url: str) -> None:
    """What has happened before is forgotten, and nothing is wrong where it is played."""
    ask(url, "openai-chat", *ORPHANS["openai-chat"])
    status, _, raw = post(f"{url}/looptck/script", {"script": ["three"]})
    assert (200, {"left": 1}) == (status, json.loads(raw))
    assert "three" == text("openai-responses", ask(url, "openai-responses", "Hi.")[1])

    assert ("pass", 1) == tuple(_control(url, "verdicts")[1][name] for name in ("verdict", "requests"))


def test_scripts_in_yaml(url: str) -> None:
    """A script may be posted as YAML; one that is none is refused with its line, and changes nothing."""
    post(f"{url}/looptck/script", b"script:\n  - three\n", {"content-type": "application/yaml"})
    status, _, raw = post(f"{url}/looptck/script", b"script:\n  - txt: x\n", {"content-type": "application/yaml"})

    assert 400 == status
    assert "line 2" in json.loads(raw)["error"]
    assert "three" == text("openai-chat", ask(url, "openai-chat", "Hi.")[1])


def test_transcript(url: str) -> None:
    """It has requests and replies in order, without keys."""
    post(url + ROUTES["openai-chat"], body("openai-chat", "Hi.", stream=True), {"authorization": "Bearer secret"})
    post(f"{url}/v1/models", b"", method="GET")
    post(f"{url}/v1/embeddings", {})
    status, found = _control(url, "transcript")
    asked, replied, *others = found["events"]

    assert 200 == status
    assert "secret" not in json.dumps(found)
    assert ("openai-chat", "Hi.") == (asked["wire"], asked["body"]["messages"][0]["content"])
    assert (200, True) == (replied["status"], replied["stream"])
    assert "data: [DONE]" in replied["body"]
    assert ["side-request", "unknown-route"] == [one["event"] for one in others]


def test_half_of_a_surrogate_pair_is_no_obstacle(url: str) -> None:
    """A request with one is answered, here with a refusal that quotes it, and the transcript has both."""
    orphan = {"type": "function_call_output", "call_id": "\ud800", "output": "21"}
    status, refused = ask(url, "openai-responses", "Hi.", orphan)
    _, found = _control(url, "transcript")

    assert 400 == status
    assert "\ud800" in refused["error"]["message"]
    assert ["request", "reply"] == [one["event"] for one in found["events"]]


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:80"},
        {"host": "127.0.0.1.evil.example"},
        {"host": ""},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_pages_of_other_sites_are_kept_out(url: str, headers: dict[str, str]) -> None:
    """The control API answers no request that a page of another site can let a browser send."""
    assert 403 == _control(url, "transcript", headers)[0]
    assert 403 == post(f"{url}/looptck/script", {"script": ["theirs"]}, headers)[0]
    assert "one" == text("openai-chat", ask(url, "openai-chat", "Hi.")[1])


def test_control_requests_that_there_are_not(url: str) -> None:
    """Another route is told with those that there are; a content type that a page can send is refused."""
    assert 404 == _control(url, "nothing")[0]
    assert 415 == post(f"{url}/looptck/script", {"script": ["x"]}, {"content-type": "text/plain"})[0]
    assert 200 == _control(url, "verdicts", {"origin": url})[0]


def test_memory_is_bounded() -> None:
    """Of many requests the latest are kept, and all are counted."""
    serving = Serving(read_text("mine", "script: [one]\nrepeat: true"))
    with Provider(0, serving.answer) as provider:
        line = socket.create_connection(("127.0.0.1", int(provider.origin.rpartition(":")[2])))
        raw = json.dumps(body("openai-chat", "Hi.")).encode()
        request = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%b" % (len(raw), raw)
        for _ in range(50):
            line.sendall(request * 30)
            _read(line, 30)
        line.close()

    assert 1500 == serving.endpoint.count
    assert KEEPS == len(serving.endpoint.requests)
    assert not serving.endpoint.turns


def test_stored_responses_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """After many requests the service has lost what it stored; a request that relies on it is no finding."""
    monkeypatch.setattr(endpoint, "FORGETS", 2)
    serving = Serving(read_text("mine", "script: [one]\nrepeat: true"))
    with Provider(0, serving.answer) as provider:
        _, first = ask(provider.origin, "openai-responses", "Hi.")
        assert 200 == ask(provider.origin, "openai-responses", "And?", previous_response_id=first["id"])[0]
        assert 400 == ask(provider.origin, "openai-responses", "And?", previous_response_id=first["id"])[0]

    assert [] == serving.findings


def test_the_bytes_of_large_requests_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of large requests fewer are kept, always the latest, and the services lose what they have stored sooner."""
    monkeypatch.setattr(endpoint, "MOST_KEPT", 100_000)
    serving = Serving(read_text("mine", "script: [one]\nrepeat: true"))
    with Provider(0, serving.answer) as provider:
        for n in range(40):
            assert 200 == ask(provider.origin, "openai-responses", f"{n}" + "x" * 20_000)[0]

    events = serving.endpoint.transcript.events
    assert 40 == serving.endpoint.count
    assert 2 <= len(serving.endpoint.requests) <= 6
    assert 40 == serving.endpoint.requests[-1].number
    assert sum(len(one.raw) for one in events if isinstance(one, Received)) <= 100_000
    assert serving.endpoint._since < 300_000


def test_keys_are_in_no_transcript(url: str) -> None:
    """Neither those of headers nor those in the query of a path."""
    keys = {name: f"planted {name}" for name in ("x-goog-api-key", "proxy-authorization", "x-auth-token")}
    path = f"{url}{ROUTES['openai-chat']}?api-version=1&api-key=planted&sig=planted"
    post(path, body("openai-chat", "Hi."), keys)
    _, found = _control(url, "transcript")

    assert "planted" not in json.dumps(found)
    assert "/v1/chat/completions?api-version=1&api-key=***&sig=***" == found["events"][0]["path"]


def test_a_script_with_thousands_of_mistakes_is_refused_at_once() -> None:
    """Some are told, and that there are more; the text is not read anew for each of them."""
    read: list[str] = []
    compose = yaml.compose

    def counted(text: str, **how: Any) -> Any:
        read.append(text)
        return compose(text, **how)

    with pytest.MonkeyPatch.context() as patching:
        patching.setattr(yaml, "compose", counted)
        with pytest.raises(BadFile, match="and more"):
            read_text("mine", json.dumps({"script": [{"txt": "x"}] * 3000}))

    assert len(read) <= 10


def test_output_that_nobody_reads_changes_no_answer(tmp_path: Path) -> None:
    """The program gets its answers, and the status says that the output is lost."""
    lost: list[str] = []

    def say(text: str) -> None:
        lost.append(text)
        raise BrokenPipeError

    command = (sys.executable, "-c", PROGRAM + f"open({str(tmp_path / 'asked')!r}, 'w')")
    status = serve(ServeOptions(None, None, 0, command=command), say)

    assert 2 == status
    assert any("-> says" in line for line in lost)
    assert (tmp_path / "asked").exists()


def _read(line: socket.socket, count: int) -> None:
    seen = b""
    while seen.count(b"HTTP/1.1 200 OK") < count or not seen.endswith(b"}"):
        seen += line.recv(1 << 16)


def _serve(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["serve", "--port", "0", *words])
    return done.exit_code, done.output


def test_a_program_is_run(tmp_path: Path) -> None:
    """The program finds the provider by its environment, and the status says that nothing was wrong."""
    script = tmp_path / "script.yaml"
    script.write_text("script: [Hello.]", encoding="utf-8")
    status, printed = _serve("--script", str(script), "--", sys.executable, "-c", PROGRAM)

    assert 0 == status, printed
    for words in ("OPENAI_BASE_URL=http://127.0.0.1:", "openai-chat plain  user: 'Hi.'", "-> says 'Hello.'"):
        assert words in printed
    assert "1 request, 1 turn played, 0 left" in printed


def test_findings_are_printed(tmp_path: Path) -> None:
    """What is left over, and what the service would refuse, makes the status 1."""
    status, printed = _serve("--case", "two-calls", "--", sys.executable, "-c", PROGRAM)

    assert 1 == status
    assert "ask it: What is the weather in Paris, and are you there?" in printed
    assert "tool weather: Tells the weather of a city." in printed
    assert "1 of the script's answers was not played" in printed


@pytest.mark.parametrize(
    ("program", "status", "why"),
    [
        (PROGRAM, 0, "the program ended with status 0"),
        (PROGRAM + "raise SystemExit(3)", 1, "the program ended with status 3"),
        (PROGRAM + "os.kill(os.getpid(), 9)", 1, "the program ended with status -9"),
        ("", 2, "the program asked nothing, so nothing was judged"),
        ("raise SystemExit(3)", 2, "the program asked nothing, so nothing was judged"),
    ],
)
def test_nothing_is_clean_that_was_not_judged(program: str, status: int, why: str) -> None:
    """A program that fails is no success, and neither is one that asks nothing."""
    done, printed = _serve("--", sys.executable, "-c", program)

    assert status == done, printed
    assert why in printed


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_the_program_too(name: str, tmp_path: Path) -> None:
    """What came of it until then is printed, the program is ended, and the status is 2."""
    pipe, number = tmp_path / "pipe", tmp_path / "number"
    os.mkfifo(pipe)
    program = (
        f"import os\nopen({str(number)!r}, 'w').write(str(os.getpid()))\n{PROGRAM}\nopen({str(pipe)!r}, 'w'); input()"
    )
    words = [sys.executable, "-m", "looptck.cli", "serve", "--port", "0", "--", sys.executable, "-c", program]
    held, _ = os.pipe()
    serving = subprocess.Popen(words, stdin=held, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    with pipe.open(encoding="ascii"):  # which waits until the program is there
        serving.send_signal(getattr(signal, name))
        printed = serving.communicate()[0].decode()

    assert 2 == serving.returncode, printed
    assert "the program was interrupted\n1 request, 1 turn played" in printed
    with pytest.raises(ProcessLookupError):
        os.kill(int(number.read_text(encoding="ascii")), 0)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--case", "two-cals"], "did you mean two-calls"),
        (["--script", "nowhere.yaml"], "nowhere.yaml: cannot be read"),
        (["--port", "65536"], "65536 is not in the range 0<=x<=65535"),
        (["--port", "-1"], "-1 is not in the range"),
        (["--case", "two-calls", "--script", "x.yaml"], "exclude each other"),
        (["--", "no-such-program-of-anybody"], "no-such-program-of-anybody cannot be started"),
        (["--no-such-option"], "No such option"),
    ],
)
def test_what_cannot_be_served(words: list[str], why: str) -> None:
    """The reason is told, and the status is 2."""
    status, printed = _serve(*words)

    assert 2 == status
    assert why in printed


def test_a_port_that_is_taken() -> None:
    """The port and the way out are told."""
    with Provider() as taken:
        port = taken.origin.rpartition(":")[2]
        done = CliRunner().invoke(main, ["serve", "--port", port, "--", "true"])

    assert 2 == done.exit_code
    assert f"port {port} of 127.0.0.1 cannot be had" in done.output
