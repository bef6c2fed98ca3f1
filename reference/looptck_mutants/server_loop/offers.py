"""The tools that the model is offered: a run begins with an offer that does not fit its request."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.entry import CODE_SCHEMA, CODE_TOOL, SEARCH_TOOL, Offer, tool_name
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.values import RunRequest, ToolPath


def _without(offer: Offer, *names: str) -> Offer:
    return replace(offer, tools=tuple(tool for tool in offer.tools if tool_name(tool) not in names))


class OfferingLoop(ServerLoop):
    """A loop that changes its offer before it begins."""

    def __init__(self, request: RunRequest, offer: Offer, *others: Any, **more: Any) -> None:
        super().__init__(request, self.offered(request, offer), *others, **more)

    def offered(self, request: RunRequest, offer: Offer) -> Offer:
        """The offer to use instead of the original."""
        return offer


@breaks(
    "server-search-is-advertised",
    collateral={"server-search-is-asked-for-by-the-request": "the request asks in vain"},
)
class SearchIsNeverOffered(OfferingLoop):
    """Offers search to no request."""

    def offered(self, request: RunRequest, offer: Offer) -> Offer:
        return _without(offer, SEARCH_TOOL)


@breaks("server-search-is-asked-for-by-the-request")
class SearchOptionsAreAnotherWord(OfferingLoop):
    """Offers no search to requests with web_search_options."""

    def offered(self, request: RunRequest, offer: Offer) -> Offer:
        return _without(offer, SEARCH_TOOL) if request.wants_search else offer


@breaks(
    "server-code-execution-is-advertised",
    collateral={"server-code-interpreter-asks-for-python": "a code_interpreter asks in vain too"},
)
class PythonIsNeverOffered(OfferingLoop):
    """Offers Python to no request."""

    def offered(self, request: RunRequest, offer: Offer) -> Offer:
        return _without(offer, CODE_TOOL)


@breaks("server-code-interpreter-asks-for-python")
class CodeInterpreterIsUnheard(OfferingLoop):
    """Offers no Python to requests with a code_interpreter tool."""

    def offered(self, request: RunRequest, offer: Offer) -> Offer:
        return _without(offer, CODE_TOOL) if request.wants_code else offer


@breaks("server-code-execution-waits-to-be-asked-for")
class PythonForEverybody(OfferingLoop):
    """Offers Python to requests that did not ask for it."""

    def offered(self, request: RunRequest, offer: Offer) -> Offer:
        if not offer.dispatch or CODE_TOOL in offer.built_in:
            return offer
        built_in = {**offer.built_in, CODE_TOOL: ToolPath.CODE}
        return replace(offer, tools=(*offer.tools, CODE_SCHEMA), built_in=built_in)


@breaks("server-python-tool-has-the-documents-name")
class PythonUnderAnotherName(OfferingLoop):
    """Offers its Python tool as run_python."""

    def offered(self, request: RunRequest, offer: Offer) -> Offer:
        if CODE_TOOL not in offer.built_in:
            return offer
        renamed = {**CODE_SCHEMA, "function": {**CODE_SCHEMA["function"], "name": "run_python"}}
        tools = tuple(renamed if tool is CODE_SCHEMA else tool for tool in offer.tools)
        return replace(offer, tools=tools, built_in={**offer.built_in, "run_python": ToolPath.CODE})


@breaks("server-callbacks-are-advertised")
class CallbacksOnlyBesideOthers(OfferingLoop):
    """Offers its callbacks only to requests that have tools."""

    def offered(self, request: RunRequest, offer: Offer) -> Offer:
        callbacks = [name for name, path in offer.built_in.items() if path is ToolPath.CALLBACK]
        return offer if request.tools else _without(offer, *callbacks)
