"""`looptck-reference serve`: the simulator on a port, until a signal stops it."""

from __future__ import annotations

import asyncio
import importlib
import signal
import socket
from pathlib import Path
from typing import Any

import click

from looptck_reference.server.config import Config
from looptck_reference.server.dialects import DIALECTS, with_answers
from looptck_reference.server.limits import Limits
from looptck_reference.server.serving import Simulator
from looptck_reference.server.tools import FAKE_INDEX, Callback, SearchIndex
from looptck_reference.server.values import Permission

__all__ = ["main"]

PERMISSIONS = [permission.value for permission in Permission]
CONNECTIONS = 4
"""Connections per admitted run: clients that only ask, or that have finished and stay connected, use one too."""
LAST_WORDS = 3
"""Seconds in which clients can read that their runs have ended."""


LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
"""The addresses that no other machine reaches."""


@click.group()
def main() -> None:
    """The reference of the kit, as programs."""


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=0, show_default=True, type=click.IntRange(0, 65535), help="0 for any free port.")
@click.option("--upstream", required=True, metavar="URL", help="Base URL of the model, including the version.")
@click.option(
    "--upstream-key", envvar="LOOPTCK_UPSTREAM_KEY", help="Its key; without it, the client's own is passed on."
)
@click.option("--model", "models", multiple=True, default=["default"], help="A name for /v1/models; may be repeated.")
@click.option("--tool-dispatch-url", metavar="URL", help="Where calls go that the server cannot run itself.")
@click.option("--dispatch-timeout", default=30.0, show_default=True, type=click.FloatRange(0.001), help="Seconds.")
@click.option("--max-tool-rounds", type=click.IntRange(0), help="Rounds for requests without a limit; 256 by default.")
@click.option("--enable-search", is_flag=True, help="Offer web search on an index.")
@click.option("--search-index", type=click.Path(path_type=Path, exists=True), help="Its pages, a JSON array.")
@click.option("--enable-code-execution", is_flag=True, help="Offer Python in a subprocess. This is no sandbox.")
@click.option("--agent-permission", default="auto", show_default=True, type=click.Choice(PERMISSIONS))
@click.option("--callback", "callbacks", multiple=True, metavar="MODULE:NAME", help="A registered tool, a `Callback`.")
@click.option("--dialect", default="document", show_default=True, type=click.Choice([*DIALECTS]), help="Whose answers.")
@click.option("--set", "answers", multiple=True, metavar="QUESTION=ANSWER", help="A changed answer of the dialect.")
@click.option("--max-sessions", default=128, show_default=True, type=click.IntRange(1), help="Sessions that are kept.")
@click.option("--max-runs", default=512, show_default=True, type=click.IntRange(1), help="Runs at the same time.")
@click.option(
    "--grace", default=2.0, show_default=True, type=click.FloatRange(0), help="Seconds for runs to end at shutdown."
)
@click.option("--variant", metavar="MODULE:CLASS", help="A subclass of `Simulator` to use instead.")
def serve(host: str, port: int, grace: float, **options: Any) -> None:
    """Run the agent loop for clients, in front of a model at --upstream.

    A client is known by the key that it sends. Clients that send none are one client to the server: they can list and
    read each other's files, and whoever knows a session's id can continue it.
    """
    if options["enable_code_execution"] and host not in LOOPBACK:
        raise click.UsageError(
            "--enable-code-execution runs code that a model wrote: allowed only on the loopback address"
        )
    variant = Simulator if options["variant"] is None else _named(options["variant"], "--variant")
    if not (isinstance(variant, type) and issubclass(variant, Simulator)):
        raise click.BadParameter(f"{options['variant']} is not a Simulator", param_hint="--variant")
    _listen(variant(_config(options)), host, port, grace)


def _config(options: dict[str, Any]) -> Config:
    words = dict(answer.partition("=")[::2] for answer in options["answers"])
    try:
        dialect = with_answers(DIALECTS[options["dialect"]], words)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--set") from error
    callbacks = tuple(_named(name, "--callback") for name in options["callbacks"])
    if not all(isinstance(callback, Callback) for callback in callbacks):
        raise click.BadParameter("not all of them are instances of `Callback`", param_hint="--callback")
    for name in ("upstream", "tool_dispatch_url"):
        if options[name] is not None and not options[name].startswith(("http://", "https://")):
            raise click.BadParameter(f"{options[name]} is not an http URL", param_hint=f"--{name.replace('_', '-')}")
    return Config(
        upstream=options["upstream"],
        upstream_key=options["upstream_key"],
        dialect=dialect,
        max_tool_rounds=options["max_tool_rounds"],
        search=_index(options["search_index"]) if options["enable_search"] else None,
        code=options["enable_code_execution"],
        callbacks=callbacks,
        dispatch_url=options["tool_dispatch_url"],
        permission=Permission(options["agent_permission"]),
        models=tuple(options["models"]),
        limits=Limits(
            dispatch_timeout=options["dispatch_timeout"], sessions=options["max_sessions"], runs=options["max_runs"]
        ),
    )


def _index(path: Path | None) -> SearchIndex:
    try:
        return SearchIndex(FAKE_INDEX) if path is None else SearchIndex.from_file(path)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--search-index") from error


def _named(name: str, option: str) -> Any:
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise click.BadParameter(f"{name}: {error}", param_hint=option) from error


def _listen(simulator: Simulator, host: str, port: int, grace: float) -> None:
    """Serve until SIGINT or SIGTERM, which end the process with status 0 once all clients have been informed."""
    import uvicorn

    from looptck_reference.server.http.app import create_app

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            stopping = asyncio.get_running_loop().call_later(grace, simulator.stop)
            await super().shutdown(sockets)
            stopping.cancel()

    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise click.ClickException(f"cannot listen on {host}:{port}: {error.strerror}") from error
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)  # uvicorn raises the caught signal once more when it has finished
    with listener:
        shown = f"[{host}]" if ":" in host else host
        click.echo(f"looptck-reference serves http://{shown}:{listener.getsockname()[1]}")
        config = uvicorn.Config(
            create_app(simulator, loopback_only=host in LOOPBACK),
            log_level="warning",
            access_log=False,
            limit_concurrency=CONNECTIONS * simulator.config.limits.runs,
            timeout_graceful_shutdown=int(grace) + LAST_WORDS,
            ws="none",
        )
        Server(config).run(sockets=[listener])
