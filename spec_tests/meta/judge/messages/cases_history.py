"""The smallest Messages histories that break each rule, beside the nearest ones that break none."""

from __future__ import annotations

from meta.judge.messages.bodies import (
    FOUND,
    IMAGE,
    SEARCH,
    THOUGHT,
    USER,
    assistant,
    block,
    call,
    request,
    result,
    system,
    user,
    without,
)

_DIRECTIVE = {"role": "system", "content": [], "output_config": {"effort": "low"}}
_EMPTY = {"role": "assistant", "content": []}

CASES: tuple[tuple[str, object, object], ...] = (
    (
        "every-call-is-answered",
        request(USER, assistant(call("a"))),
        request(USER, assistant(call("a")), user(result("a"))),
    ),
    (
        "every-call-is-answered",
        request(USER, assistant(call("a"), call("b")), user(result("a"))),
        request(USER, assistant(call("a"), call("b")), user(result("b"), result("a"))),
    ),
    (
        "every-call-is-answered",
        request(USER, assistant(call("a"), call("b")), user(result("a")), assistant("x"), user(result("b"))),
        request(USER, assistant(call("a")), assistant(call("b")), user(result("a")), user(result("b"))),
    ),
    (
        "every-call-is-answered",
        request(USER, assistant(call("a")), USER),
        request(USER, assistant(SEARCH), USER),
    ),
    (
        "every-call-is-answered",
        request(USER, assistant(SEARCH, call("a")), user(FOUND, "x")),
        request(USER, assistant(SEARCH, call("a")), user(result("a"))),
    ),
    (
        "results-come-first",
        request(USER, assistant(call("a")), user("look", result("a"))),
        request(USER, assistant(call("a")), user(result("a"), "look")),
    ),
    (
        "results-come-first",
        request(USER, assistant(call("a")), USER, user(result("a"))),
        request(USER, assistant(call("a")), user(result("a")), USER),
    ),
    (
        "results-come-first",
        request(USER, assistant(call("a"), call("b")), user(result("a"), IMAGE, result("b"))),
        request(USER, assistant(call("a"), call("b")), user(result("a"), result("b"), IMAGE)),
    ),
    (
        "results-answer-a-call",
        request(user(result("a"))),
        request(assistant(call("a")), user(result("a"))),
    ),
    (
        "results-answer-a-call",
        request(USER, assistant(call("a")), user(result("a"), result("b"))),
        request(USER, assistant("x", call("a"), "y", call("b")), user(result("a"), result("b"))),
    ),
    (
        "results-answer-a-call",
        request(USER, assistant(call("a")), user(result("a")), assistant("x"), user(result("a"))),
        request(USER, assistant(call("a")), user(result("a")), assistant(call("a")), user(result("a"))),
    ),
    (
        "results-answer-a-call",
        request(USER, assistant(SEARCH), user(result("srvtoolu_1"))),
        request(USER, assistant(SEARCH, FOUND), USER),
    ),
    (
        "one-result-per-call",
        request(USER, assistant(call("a")), user(result("a"), result("a"))),
        request(USER, assistant(call("a")), user(result("a"))),
    ),
    (
        "one-result-per-call",
        request(USER, assistant(call("a")), user(result("a")), user(result("a"))),
        None,
    ),
    (
        "failed-results-have-content",
        request(USER, assistant(call("a")), user(result("a", content="", is_error=True))),
        request(USER, assistant(call("a")), user(result("a", content="x", is_error=True))),
    ),
    (
        "failed-results-have-content",
        request(USER, assistant(call("a")), user(result("a", content=[], is_error=True))),
        request(USER, assistant(call("a")), user(result("a", content="", is_error=False))),
    ),
    (
        "failed-results-have-content",
        request(USER, assistant(call("a")), user(without(result("a", is_error=True), "content"))),
        request(USER, assistant(call("a")), user(without(result("a"), "content"))),
    ),
    (
        "failed-results-have-content",
        request(USER, assistant(call("a")), user(result("a", content=None, is_error=True))),
        None,
    ),
    (
        "call-ids-are-unique",
        request(USER, assistant(call("a"), call("a")), user(result("a"), result("a"))),
        request(USER, assistant(call("a"), call("b")), user(result("a"), result("b"))),
    ),
    (
        "blocks-fit-their-role",
        request(user(THOUGHT, "x")),
        request(USER, assistant(THOUGHT, "x"), USER),
    ),
    (
        "blocks-fit-their-role",
        request(user(call("a"))),
        None,
    ),
    (
        "blocks-fit-their-role",
        request(USER, assistant("x", result("a"))),
        None,
    ),
    ("content-is-present", request({**USER, "content": ""}), request({**USER, "content": "x"})),
    ("content-is-present", request({**USER, "content": []}), None),
    ("content-is-present", request(USER, _EMPTY, USER), request(USER, _EMPTY)),
    ("content-is-present", request(USER, {"role": "system", "content": []}), request(USER, _DIRECTIVE)),
    ("texts-say-something", request({**USER, "content": " \n"}), request({**USER, "content": " x"})),
    (
        "texts-say-something",
        {**request(USER), "system": [{"type": "text", "text": text} for text in ("Be brief.", "\n\n", "Rhyme.")]},
        {**request(USER), "system": [{"type": "text", "text": text} for text in ("Be brief.", "\n\nRhyme.")]},
    ),
    (
        "texts-say-something",
        request(USER, assistant("\n\n"), USER),
        request(USER, assistant(" ", call("a")), user(result("a"))),
    ),
    (
        "prefill-ends-in-no-blank",
        request(USER, {"role": "assistant", "content": "{ "}),
        request(USER, {"role": "assistant", "content": "{"}),
    ),
    (
        "prefill-ends-in-no-blank",
        request(USER, assistant("x\n")),
        request(USER, assistant("x\n"), USER),
    ),
    ("system-messages-are-in-place", request(system("s"), USER), request(USER, system("s"))),
    (
        "system-messages-are-in-place",
        request(USER, assistant("x"), system("s"), USER),
        request(USER, system("s"), assistant("x"), USER),
    ),
    (
        "system-messages-are-in-place",
        request(USER, system("s"), system("t"), USER),
        request(USER, system("s"), system("t")),
    ),
    (
        "system-messages-are-in-place",
        request(USER, assistant("x"), system("s")),
        request(USER, assistant(SEARCH, FOUND), system("s")),
    ),
    (
        "system-messages-are-in-place",
        request(USER, system(block("tool_addition", tool={"type": "tool_reference"})), USER),
        request(_DIRECTIVE, USER, assistant("x"), _DIRECTIVE, USER),
    ),
)
"""The rule, a body that breaks it, and one that is as near as can be and breaks none (or None)."""
