"""200 streaming sessions at the same time: no event is lost, and nothing is mixed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx

from meta.reference.server.serving import WEATHER, World, call, events, names, text_of, turn

MANY = 200


def test_many_sessions_do_not_mix(world: Callable[..., World]) -> None:
    """Each runs two rounds, twice; all models are asked before the first of them answers."""
    here = world(limits={"sessions": MANY})
    asking, all_ask = 0, asyncio.Event()

    async def model(request: httpx.Request) -> httpx.Response:
        nonlocal asking
        body = json.loads(await request.aread())
        if request.url.host == "tools.test":
            return httpx.Response(200, json={"content": f"ran {body['arguments']['who']}"})
        asking += 1
        if asking == MANY:
            all_ask.set()
        await asyncio.wait_for(all_ask.wait(), 60)
        users = [one["content"] for one in body["messages"] if one["role"] == "user"]
        results = [one["content"] for one in body["messages"] if one["role"] == "tool"]
        if len(results) < 2 * len(users):
            return httpx.Response(200, json=turn(None, call("weather", {"who": users[-1]}, f"c{len(results)}")))
        return httpx.Response(200, json=turn(f"{users} {results}"))

    async def client(number: int) -> list[list[tuple[str | None, Any]]]:
        told = []
        transport = httpx.ASGITransport(here.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://server.test") as one:
            for part in "ab":
                message = {"role": "user", "content": f"{number}{part}"}
                body = {"model": "m", "messages": [message], "tools": [WEATHER], "stream": True}
                body["session_id"] = f"s{number}"
                response = await one.post("/v1/chat/completions", json=body, timeout=60)
                told.append(events(response.content))
        return told

    async def everybody() -> list[list[list[tuple[str | None, Any]]]]:
        return await asyncio.gather(*map(client, range(MANY)))

    here.simulator._upstream._client._transport = httpx.MockTransport(model)
    streams = here.run(everybody())

    rounds = ["calling", "complete"] * 2
    assert [[[*rounds, "[DONE]"]] * 2] * MANY == [[names(one) for one in both] for both in streams]
    assert [f"{[f'{n}a', f'{n}b']} {[f'ran {n}a'] * 2 + [f'ran {n}b'] * 2}" for n in range(MANY)] == [
        text_of(both[1]) for both in streams
    ]
    assert (0, MANY) == (here.simulator.runs, len(here.simulator.sessions))
