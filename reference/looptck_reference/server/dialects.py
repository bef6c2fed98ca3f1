"""Dialects of server-side loops: how the documents and today's server answer the same questions.

A dialect is a value that the loop reads. `DOCUMENT` follows mistral.rs' page "The agentic loop" of May 2026, which
specifies the loop; `TODAY` follows the source of mistral.rs of August 2026, except for its faults. Four rules hold in
all dialects: every stream ends explicitly, plain and streamed replies agree, no call is lost without a report, and no
client gets another client's session. Today's server breaks each of these rules somewhere; no dialect has these faults.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args, get_type_hints

__all__ = ["DIALECTS", "DOCUMENT", "TODAY", "ServerDialect", "with_answers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDialect:
    """One server's answers.

    entry: the condition for offering built-in tools and entering the loop. `document`: the server's flags (code
        execution must also be requested); `today`: the request's `web_search_options` and `code_interpreter` tool, and
        a cap on the rounds enters too.
    parallel: which calls of a turn run.
    unrun: who is informed of a call that does not run. `model`: the call stays in the history and has a result that
        says so; `client`: it leaves the history and is named in an event of its own.
    unparsed: a call for the dispatch URL whose arguments are no JSON object. `told`: nothing runs, and the model gets
        an error; `sent`: the endpoint gets the text.
    cap: what happens once the rounds are used up. `force-final`: the model is asked once more with `tool_choice` none;
        `return-pending`: it is asked as before, and a call is returned to the client unrun; `error`: the run fails
        instead.
    zero_rounds: a cap of 0. `no-tools`: the loop with no tool offered; `bypass`: no loop at all.
    complete_data: whether `complete` repeats the input of the tool, and has members that are empty, and whether
        `calling` has parsed arguments.
    file_ids: whether an entry of `agentic_tool_calls` without files has an empty list.
    tool_turn_text: text of a turn whose call ran. `hidden`: only the model reads it again; `shown`: only the client
        gets it.
    splice: the meaning of a session id. `by-id`: the stored history, and the request's messages after it or within it;
        `needs-visible-history`: only what the request repeats is kept.
    stores_answer: whether the final answer is part of a session.
    session_form: the messages of `/v1/sessions`. `openai`: as in a request; `either`: tagged as the server's own
        type is.
    captures: which files of code execution are captured in addition to those that the request declares: those
        `listed` in `outputs`, or all new ones.
    errors: the body of a plain error. `api`: in the format of the API; `message`: only the message.
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


def with_answers(dialect: ServerDialect, words: dict[str, str]) -> ServerDialect:
    """The dialect with some of its answers changed.

    Raises:
        ValueError: the question does not exist, or does not have this answer.
    """
    known = {field.name for field in fields(ServerDialect)}
    answers: dict[str, Any] = get_type_hints(ServerDialect)
    for question, answer in words.items():
        if question not in known:
            raise ValueError(f"no dialect has the question {question!r}; the questions are {', '.join(sorted(known))}")
        if answer not in get_args(answers[question]):
            raise ValueError(f"{question} must be one of {', '.join(get_args(answers[question]))}, not {answer!r}")
    return replace(dialect, **words)  # type: ignore[arg-type]  # each was looked up above
