"""Made-up secrets of many kinds, each as its issuer would write it, and the places that they are planted in."""

from __future__ import annotations

import base64
import json
import random
import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

ALPHABETS = {
    "a": string.ascii_letters + string.digits,
    "l": string.ascii_lowercase + string.digits,
    "u": string.ascii_uppercase + string.digits,
    "h": string.hexdigits[:16],
    "d": string.digits,
    "b": string.ascii_letters + string.digits + "-_",
}
KINDS = [
    "",
    "ghp_{a36} gho_{a36} ghs_{a36} github_pat_{a22}_{a59} glpat-{b20} glsoat-{b20} gldt-{b20} AKIA{u16} ASIA{u16}",
    "AIza{b35} ya29.{b60} GOCSPX-{b28} sk-{a48} sk-proj-{b80} sk-ant-api03-{b90}AA sk-or-v1-{h64} gsk_{a52} xai-{a80}",
    "hf_{a34} r8_{a37} pplx-{a48} fw_{a24} csk-{l48} nvapi-{b64} tgp_v1_{b43} pcsk_{a5}_{a60} lsv2_pt_{h32}_{h10}",
    "sk-lf-{h8}-{h4}-{h4}-{h4}-{h12} xoxb-{d12}-{d12}-{a24} xoxp-{d12}-{d12}-{d12}-{h32} xapp-1-A{u10}-{d12}-{h64}",
    "https://hooks.slack.com/services/T{u10}/B{u10}/{a24} https://discord.com/api/webhooks/{d18}/{b68}",
    "M{a23}.{b6}.{b27} {d10}:{a35} SG.{b22}.{b43} key-{h32} {h32}-us12 xkeysib-{h64}-{a16} SK{h32} AC{h32} sk_live_{a24}",
    "rk_live_{a24} whsec_{a32} sq0atp-{b22} sq0csp-{b43} shpat_{h32} shpss_{h32} shippo_live_{h40} EZAK{a54} npm_{a36}",
    "pypi-AgEIcHlwaS5vcmc{b80} rubygems_{h48} oy2{l43} CLOJARS_{l60} dckr_pat_{b27} dop_v1_{h64} dapi{h32} hvs.{b90}",
    "{a14}.atlasv1.{b64} pul-{h40} tskey-auth-{a16}-{a32} PMAK-{h24}-{h34} lin_api_{a40} ntn_{a46} secret_{a43} figd_{b40}",
    "pat{a14}.{h64} ATATT3xFfGF0{b100} ATBB{a32} CCIPAT_{a22}_{h40} bkua_{h40} glsa_{a32}_{h8} NRAK-{u27} sntrys_{b60}",
    "sqp_{h40} phc_{a43} vcp_{a24} nfp_{a36} HRKU-{h8}-{h4}-{h4}-{h4}-{h12} sbp_{h40} pscale_tkn_{b43} dt0c01.{u24}.{u64}",
    "LTAI{a20} AQVN{b36} FLWSECK-{l32}-X sk_test_{h40} tvly-{a32} AVNS_{b19} ops_eyJ{b80} AGE-SECRET-KEY-1{u58}",
    "eyJhbGciOiJIUzI1NiJ9.eyJ{b40}.{b43} postgres://app:{a16}@db.example/main mongodb+srv://u:{a20}@c0.example",
    "amqps://svc:{a12}%21@mq.example AccountKey={a86}== {a40} {h40} {h64} {b43} {a32} {h8}-{h4}-{h4}-{h4}-{h12}",
    'api_key={a20} password: {a14} "client_secret":"{a24}" Bearer {a30} token={h24} aws_secret_access_key = {a40}',
    "AKCp{a69} cloudant_password={h64} ibm_cloud_api_key={b44} cos_secret_access_key={h48} softlayer_api_key={l64}",
    "//registry.npmjs.org/:_authToken=npm_{a36} sk-{a20}T3BlbkFJ{a20}",
    "",
]
"""One word for each kind; in braces an alphabet and a length. Some have spaces: see `kinds`."""
BLOCK = "-----BEGIN {0}PRIVATE KEY-----\n{1}\n-----END {0}PRIVATE KEY-----"


@dataclass(frozen=True, slots=True)
class Planted:
    """A secret, and its parts that are random: what must not be seen of it."""

    text: str
    random: tuple[str, ...]


def kinds() -> list[Planted]:
    """A secret of each kind; the same in every run."""
    drawn = random.Random(7)  # noqa: S311  nothing is kept secret by it
    words = " ".join(KINDS).split()
    joined = re.sub(r"(password:|Bearer|aws_secret_access_key|=) (?=\S)", "\\1\x00", " ".join(words)).split()
    found = [_planted(word.replace("\x00", " "), drawn) for word in joined]
    for name in ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "):
        lines = ["".join(drawn.choices(ALPHABETS["a"] + "+/", k=64)) for _ in range(4)]
        found.append(Planted(BLOCK.format(name, "\n".join(lines)), tuple(lines)))
    found.append(Planted(f"-----BEGIN PRIVATE KEY-----\n{lines[0]}\n{lines[1]}", (lines[0], lines[1])))
    return found


def _planted(form: str, drawn: random.Random) -> Planted:
    parts = list[str]()

    def draw(match: re.Match[str]) -> str:
        parts.append("".join(drawn.choices(ALPHABETS[match.group(1)], k=int(match.group(2)))))
        return parts[-1]

    text = re.sub(r"\{([a-z])(\d+)\}", draw, form)
    return Planted(text, tuple(part for part in parts if len(part) > 3))


def halves(text: str) -> list[str]:
    """A text in two pieces."""
    return [text[: len(text) // 2], text[len(text) // 2 :]]


def _chunk(delta: object, **more: object) -> str:
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta, **more}]})}\n\n"


def _deltas(pieces: list[str], delta: Callable[[str], object]) -> bytes:
    return "".join(_chunk(delta(piece)) for piece in pieces).encode()


def _arguments(piece: str) -> object:
    return {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _escaped(text: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


def _message(text: str, **more: object) -> bytes:
    return json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": text, **more}}]}).encode()


PLACES: dict[str, Callable[[str], bytes]] = {
    "text": lambda s: _message(f"It is {s} today."),
    "text, alone": _message,
    "text, escaped": lambda s: b'{"content": "It is %b."}' % _escaped(s).encode(),
    "text, beyond ASCII": lambda s: json.dumps({"content": f"Grüße, {s}, 東京"}, ensure_ascii=False).encode(),
    "arguments": lambda s: _message("", tool_calls=[{"function": {"arguments": json.dumps({"text": s})}}]),
    "arguments, escaped": lambda s: json.dumps({"arguments": f'{{"text": "{_escaped(s)}"}}'}).encode(),
    "arguments, in JSON in JSON": lambda s: json.dumps({"arguments": json.dumps({"body": json.dumps([s])})}).encode(),
    "arguments, cut off": lambda s: json.dumps({"arguments": json.dumps({"text": s, "more": 1})[:-12]}).encode(),
    "a URL": lambda s: _message(f"See https://example.org/?q={quote(s, safe='')}&x=1"),
    "a URL in a URL": lambda s: _message(f"See https://example.org/?to={quote(quote(f'ftp://me:{s}@x', safe=''))}"),
    "base64": lambda s: _message(f"It is {_encoded(f'as {s}')}."),
    "a data URL": lambda s: json.dumps({"image_url": f"data:text/plain;base64,{_encoded(f'key: {s}')}"}).encode(),
    "an unknown member": lambda s: json.dumps({"debug": {"upstream": [1, s]}}).encode(),
    "the name of a member": lambda s: json.dumps({"metadata": {s: True}}).encode(),
    "tokens of a list": lambda s: json.dumps(
        {"logprobs": [{"token": s[i : i + 3]} for i in range(0, len(s), 3)]}
    ).encode(),
    "two deltas": lambda s: _deltas(["Yes: ", *halves(s), " ok"], lambda piece: {"content": piece}),
    "a delta for each letter": lambda s: _deltas(list(f"Yes: {s}"), lambda piece: {"content": piece}),
    "two deltas of arguments": lambda s: _deltas(halves(json.dumps({"text": s})), _arguments),
    "deltas of escaped arguments": lambda s: _deltas(re.findall("..?.?.?", f'{{"t":"{_escaped(s)}"}}'), _arguments),
    "two deltas of thoughts": lambda s: _deltas(halves(f"I know {s}."), lambda piece: {"reasoning_content": piece}),
    "a comment": lambda s: f": {s.splitlines()[0]}\n\n".encode() + _deltas(["Hi."], lambda piece: {"content": piece}),
    "the name of an event": lambda s: b"id: %b\n" % s.splitlines()[0].encode() + _deltas(["Hi."], _arguments),
    "a page": lambda s: f"<html><b>{s.splitlines()[0]}</b></html>".encode(),
    "data in lines": lambda s: b'data: {"content":\ndata: %b}\n\n' % json.dumps(s).encode(),
}
"""The bodies of replies with a secret in one place."""
