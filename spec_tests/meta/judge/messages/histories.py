"""Legal histories of the wire, and what can be done wrong to one."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from meta.judge.messages.bodies import (
    FOUND,
    IMAGE,
    SEARCH,
    THOUGHT,
    USER,
    Message,
    assistant,
    call,
    result,
    text,
    user,
)

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=5)
CONTENT = st.one_of(WORDS, WORDS.map(lambda words: [text(words)]))
SAID = st.builds(
    lambda role, content: {"role": role, "content": content}, st.sampled_from(["user", "assistant"]), CONTENT
)
BESIDE = st.lists(st.one_of(WORDS.map(text), st.sampled_from([THOUGHT, SEARCH, FOUND])), max_size=2)
RESULT: st.SearchStrategy[dict[str, Any]] = st.one_of(
    CONTENT.map(lambda content: {"content": content}), st.sampled_from([{"content": ""}, {"is_error": True}])
)


@st.composite
def rounds(draw: st.DrawFn, names: st.SearchStrategy[list[str]]) -> list[Message]:
    """A turn with calls of these ids, and their results in any order, in one message or several."""
    ids = draw(names, label="call ids")
    before, after = draw(BESIDE, label="before the calls"), draw(BESIDE, label="after the calls")
    answers = [result(id, **draw(RESULT, label="result")) for id in draw(st.permutations(ids), label="order")]
    cut = draw(st.integers(0, len(answers)), label="cut")
    messages = [user(*some) for some in (answers[:cut], answers[cut:]) if some]
    messages[-1]["content"] += draw(st.sampled_from([[], [text()], [IMAGE]]), label="after the results")
    return [assistant(*before, *(call(id) for id in ids), *after), *messages]


def histories(names: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[Message]]:
    """A message of the user, then texts and rounds in any order, and an assistant message that ends them."""
    stretches = st.one_of(SAID.map(lambda message: [message]), rounds(names).map(lambda some: [USER, *some]))
    many = st.lists(stretches, max_size=4).map(lambda parts: [one for some in parts for one in some])
    return many.map(lambda messages: [USER, *messages, assistant("so")])


LEGAL = histories(st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True))
"""Any history whose calls are all answered, with ids that are used again."""


@st.composite
def marked(draw: st.DrawFn) -> tuple[list[Message], int]:
    """A legal history, and the place of one turn with calls in it, which one message answers."""
    before = draw(histories(st.just(["before"])), label="before")
    ids = draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True), label="ids")
    after = draw(histories(st.just(["after"])), label="after")
    middle = [USER, assistant(*map(call, ids)), user(*map(result, ids)), assistant("x")]
    return [*before, *middle, *after], len(before) + 1


Wrong = tuple[list[Message], list[str]]


def _drop(history: list[Message], asker: int) -> Wrong:
    history[asker + 1]["content"][0] = text()
    late = ["results-come-first"] if len(history[asker]["content"]) > 1 else []
    return history, [*late, "every-call-is-answered"]


def _drop_the_last(history: list[Message], asker: int) -> Wrong:
    history[asker + 1]["content"][-1] = text()
    return history, ["every-call-is-answered"]


def _rename(history: list[Message], asker: int) -> Wrong:
    history[asker + 1]["content"][-1]["tool_use_id"] = "x"
    return history, ["results-answer-a-call", "every-call-is-answered"]


def _lose_the_id(history: list[Message], asker: int) -> Wrong:
    del history[asker + 1]["content"][-1]["tool_use_id"]
    return history, ["results-carry-a-call-id", "results-answer-a-call", "every-call-is-answered"]


def _repeat(history: list[Message], asker: int) -> Wrong:
    history[asker + 1]["content"].append(history[asker + 1]["content"][0])
    return history, ["one-result-per-call"]


def _put_before(history: list[Message], asker: int) -> Wrong:
    history[asker + 1]["content"].insert(0, text())
    return history, ["results-come-first"]


def _put_a_message_before(history: list[Message], asker: int) -> Wrong:
    history.insert(asker + 1, USER)
    return history, ["results-come-first"]


def _forget_the_calls(history: list[Message], asker: int) -> Wrong:
    count = len(history[asker]["content"])
    history[asker] = assistant("x")
    return history, ["results-answer-a-call"] * count


def _forget_the_results(history: list[Message], asker: int) -> Wrong:
    del history[asker + 1 : asker + 3]
    history.insert(asker + 1, USER)
    return history, ["every-call-is-answered"]


def _object_as_content(history: list[Message], asker: int) -> Wrong:
    history[asker + 1]["content"][0]["content"] = {"x": 1}
    return history, ["results-are-text-or-blocks"]


def _text_as_input(history: list[Message], asker: int) -> Wrong:
    history[asker]["content"][0]["input"] = "{}"
    return history, ["input-is-an-object"]


def _no_content(history: list[Message], asker: int) -> Wrong:
    history.insert(asker + 2, {"role": "user", "content": []})
    return history, ["content-is-present"]


MUTATIONS = (
    _drop,
    _drop_the_last,
    _rename,
    _lose_the_id,
    _repeat,
    _put_before,
    _put_a_message_before,
    _forget_the_calls,
    _forget_the_results,
    _object_as_content,
    _text_as_input,
    _no_content,
)
