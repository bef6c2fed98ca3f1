"""Dialects of server-side loops: where documents, and the server of today, answer a question differently.

A dialect is a value that the loop reads. `DOCUMENT` is mistral.rs' page "The agentic loop" of May 2026, which says how
the loop ought to be; `TODAY` is what the source of mistral.rs did in August 2026, where that is no fault. Four rules
hold in all of them: every stream ends explicitly, plain and stream agree, no call is lost without a word, and one
client's session never reaches another's. Today's server breaks each of them somewhere; there is no dialect for that.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args, get_type_hints

__all__ = ["DIALECTS", "DOCUMENT", "TODAY", "ServerDialect", "bent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDialect:
    """One server's answers.

    entry: what offers built-in tools and enters the loop. `document`: the server's flags (code execution also needs
        the request's word); `today`: the request's `web_search_options` and `code_interpreter` tool, and a cap on the
        rounds enters too.
    parallel: which calls of a turn run.
    unrun: who is told of a call that does not. `model`: the call stays in the history and has a result that says so;
        `client`: it leaves the history and is named in an event of its own.
    unparsed: a call for the dispatch URL whose arguments are no JSON object. `told`: nothing runs, and the model is
        told; `sent`: the endpoint gets the text.
    cap: what happens once the rounds are used up. `force-final`: the model is asked once more with `tool_choice` none;
        `return-pending`: it is asked as before, and a call goes back to the client unrun; `error`: the run fails
        instead of that.
    zero_rounds: a cap of 0. `no-tools`: the loop with no tool offered; `bypass`: no loop at all.
    complete_data: whether `complete` repeats the input of the tool, and has members that are empty, and whether
        `calling` has parsed arguments.
    file_ids: whether an entry of `agentic_tool_calls` without files has an empty list.
    tool_turn_text: text that stood beside a call that was run. `hidden`: the model alone reads it again; `shown`: the
        client alone does.
    splice: what a session id means. `by-id`: the stored history, and the request's messages behind it or in it;
        `needs-visible-history`: only what the request repeats is kept.
    stores_answer: whether the final answer is part of a session.
    session_form: the messages of `/v1/sessions`. `openai`: as in a request; `either`: tagged as the server's own
        type is.
    captures: which files of code execution are captured beside those that the request declares: those `listed` in
        `outputs`, or all new ones.
    errors: the body of a plain error. `api`: in the words of the API; `message`: nothing but the message.
    """

    entry: Literal["document", "today"] = "document"
    parallel: Literal["first-only", "all"] = "first-only"
    unrun: Literal["model", "client"] = "model"
    unparsed: Literal["told", "sent"] = "told"
    cap: Literal["force-final", "return-pending", "error"] = "force-final"
    zero_rounds: Literal["no-tools", "bypass"] = "no-tools"
    complete_data: Literal["document", "today"] = "document"
    file_ids: Literal["always", "when-present"] = "always"
    tool_turn_text: Literal["hidden", "shown"] = "hidden"
    splice: Literal["by-id", "needs-visible-history"] = "by-id"
    stores_answer: Literal["yes", "no"] = "yes"
    session_form: Literal["openai", "either"] = "openai"
    captures: Literal["listed", "discovered"] = "discovered"
    errors: Literal["api", "message"] = "api"


DOCUMENT = ServerDialect()

TODAY = ServerDialect(
    entry="today",
    unrun="client",
    unparsed="sent",
    cap="return-pending",
    zero_rounds="bypass",
    complete_data="today",
    file_ids="when-present",
    tool_turn_text="shown",
    splice="needs-visible-history",
    stores_answer="no",
    session_form="either",
    errors="message",
)

DIALECTS = {"document": DOCUMENT, "today": TODAY}


def bent(dialect: ServerDialect, words: dict[str, str]) -> ServerDialect:
    """The dialect with some of its answers changed.

    Raises:
        ValueError: there is no such question, or no such answer to it.
    """
    known = {field.name for field in fields(ServerDialect)}
    answers: dict[str, Any] = get_type_hints(ServerDialect)
    for question, answer in words.items():
        if question not in known:
            raise ValueError(f"no dialect has {question!r}; there are {', '.join(sorted(known))}")
        if answer not in get_args(answers[question]):
            raise ValueError(f"{question} is one of {', '.join(get_args(answers[question]))}, not {answer!r}")
    return replace(dialect, **words)  # type: ignore[arg-type]  # each was looked up above
