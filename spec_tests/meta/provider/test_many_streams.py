"""A thousand streams at a time: each client gets its own, whole and in order."""

from __future__ import annotations

import asyncio
import json

from looptck.provider.gate import Gate
from looptck.provider.mock_run import MockRun
from looptck.provider.script import Hold, Script, Step
from looptck.provider.server import Provider
from looptck.provider.toolbox import Toolbox
from looptck.values.transcript import Received
from looptck.values.turns import says
from looptck.wires.openai_chat import OPENAI_CHAT

MANY = 1000
AT_A_TIME = 50
"""How many connect at a time."""
ENOUGH = 600.0
ASKS = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Go."}], "stream": True}).encode()
END = b"\r\n0\r\n\r\n"


def text_of(number: int) -> str:
    """A text that no other stream has a word of."""
    return f"of-{number} " * 20


def read(data: bytes) -> str:
    """The text of a whole stream."""
    lines = [line.removeprefix(b"data: ") for line in data.splitlines() if line.startswith(b"data: {")]
    events = [choice for line in lines for choice in json.loads(line)["choices"]]
    return "".join(event["delta"].get("content") or "" for event in events)


async def all_of(urls: list[str], gate: Gate) -> list[str]:
    """The texts of streams that are all under way before the first goes on."""
    connecting = asyncio.Semaphore(AT_A_TIME)
    begun = 0

    async def one(url: str) -> str:
        nonlocal begun
        place, _, path = url.removeprefix("http://").partition("/")
        host, _, port = place.partition(":")
        async with connecting:
            reader, writer = await asyncio.open_connection(host, int(port))
            head = f"POST /{path}/v1/chat/completions HTTP/1.1\r\nhost: {place}\r\ncontent-length: {len(ASKS)}\r\n\r\n"
            writer.write(head.encode() + ASKS)
            data = await reader.readuntil(b"content")
        begun += 1
        if begun == len(urls):
            gate.open()
        data += await reader.readuntil(END)
        writer.close()
        return read(data)

    async with asyncio.timeout(ENOUGH):
        return await asyncio.gather(*map(one, urls))


def test_a_thousand_streams_are_not_mixed() -> None:
    """All are held in their middle until all have begun."""
    gate = Gate("all have begun")
    with Provider() as provider:
        scripts = [Script((Step(says(text_of(n)), holds=(Hold(gate, 3),)),)) for n in range(MANY)]
        runs = [MockRun(OPENAI_CHAT, script, Toolbox({}), gates=(gate,), patience=ENOUGH) for script in scripts]
        texts = asyncio.run(all_of([provider.open(run) for run in runs], gate))

        assert [text_of(n) for n in range(MANY)] == texts
        assert {1} == {sum(isinstance(event, Received) for event in run.transcript.events) for run in runs}
