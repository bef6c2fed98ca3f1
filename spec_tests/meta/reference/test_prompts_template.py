"""Bodies: how they are cut into messages, and what they make of inputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from looptck_reference.prompts import PromptError, template
from meta.reference.reference_prompts import HEAD, loaded, parts, said


@pytest.mark.parametrize(
    ("body", "messages"),
    [
        ("system:\nA\n\nuser:\nB\n", [("system", "A"), ("user", "B")]),
        ("user:\nA\nassistant:\nB\nuser:\nC", [("user", "A"), ("assistant", "B"), ("user", "C")]),
        ("developer:\nA\nuser:\nB", [("developer", "A"), ("user", "B")]),
        ("System:\nA\nUSER:\nB", [("system", "A"), ("user", "B")]),
        ("  system:  \nA\n# user:\nB\n#assistant :\nC", [("system", "A"), ("user", "B"), ("assistant", "C")]),
        ("A", [("system", "A")]),
        ("\n\nA\n\nuser:\nB", [("system", "A"), ("user", "B")]),
        ("A\nuser:\nB\nassistant:\nC", [("system", "A"), ("user", "B"), ("assistant", "C")]),
        ("\n \nuser:\nB", [("user", "B")]),
        ("system:\n\nuser:\nB", [("system", ""), ("user", "B")]),
        ("user:", [("user", "")]),
        ("user:\n\n\n  A  \n  \n\n", [("user", "  A  \n  ")]),
        ("user:\nA\n\n\nB", [("user", "A\n\n\nB")]),
        ("user:\nthe user: said\nuser: said\nuser\nuser:x\n## user:\ntool:\nuser[0]:", None),
        ("user:\n# A\n\n```\nx: y\n```\n- b", None),
        ("user:\n<b>&amp;\u2028\x0b\x85é", None),
        ("{# who asks #}\n{% set a = 'A' %}\nuser:\n{{ a }}", [("user", "A")]),
    ],
)
def test_a_body_is_cut_at_its_markers(tmp_path: Path, body: str, messages: list[tuple[str, str]] | None) -> None:
    """Only lines that are a marker cut it; None: all behind the first line is one message."""
    expected = [("user", body.removeprefix("user:\n"))] if messages is None else messages

    assert expected == said(tmp_path, body)


@pytest.mark.parametrize(
    ("body", "content"),
    [
        ("{{a}} {{ b.c }} {{ d[0] }}", "1 x y"),
        ("{% if yes %}A{% elif no %}B{% else %}C{% endif %}", "A"),
        ("{% for one in d %}{{one}} {% endfor %}|", "y z |"),
        ("A{# B #}C", "AC"),
        ("{{ b.c|upper }}{{ d|join(', ') }}{{ d|length }}{{ '  A '|trim }}{{ b.c|lower }}", "Xy, z2Ax"),
        ("{{ nobody|default('somebody') }}", "somebody"),
        ("{{ nobody is defined }}", "False"),
        ("{{ none }} {{ yes }} {{ d }}", "None True ['y', 'z']"),
        ("{{ html }}", "<b>&"),
        ("{% raw %}{{ a }}{% endraw %}", "{{ a }}"),
        ("{{ braces }}", "{{ a }}{% raw %}{# #}"),
        ("A\n{%- if yes -%}\nB\n{%- endif %}", "AB"),
    ],
)
def test_a_body_is_a_jinja_template(tmp_path: Path, body: str, content: str) -> None:
    """Conditions, loops and filters; nothing is escaped, and what inputs hold is not a template."""
    inputs = {
        "a": 1,
        "b": {"c": "x"},
        "d": ["y", "z"],
        "yes": True,
        "no": False,
        "none": None,
        "html": "<b>&",
        "braces": "{{ a }}{% raw %}{# #}",
    }

    assert [("user", content)] == said(tmp_path, f"user:\n{body}", inputs)


def test_markers_may_stand_in_loops_and_conditions(tmp_path: Path) -> None:
    """What is rendered is cut, not what is written."""
    body = """system:
A
{% for one in past %}
user:
{{ one.asked }}

{% if one.said %}
assistant:
{{ one.said }}
{% endif %}
{% endfor %}
user:
{{ question }}"""
    past = [{"asked": "B", "said": "C"}, {"asked": "D", "said": None}]

    expected = [("system", "A"), ("user", "B"), ("assistant", "C"), ("user", "D"), ("user", "E")]
    assert expected == said(tmp_path, body, {"past": past, "question": "E"})


@pytest.mark.parametrize(
    "body",
    [
        "user:\n{{ a }}{% if true -%}\nassistant:\n{%- endif -%}\n{{ b }}",
        "{% filter upper %}\nuser:\n{{ a }}\nassistant:\n{{ b }}{% endfilter %}",
        "{% set part %}\nassistant:\n{{ b }}{% endset %}\nuser:\n{{ a }}\n{{ part }}",
    ],
)
def test_a_marker_is_one_wherever_it_comes_out(tmp_path: Path, body: str) -> None:
    """Without its line ends, in other letters, and at another place."""
    assert [("user", "7A"), ("assistant", "7B")] == said(tmp_path, body, {"a": "7A", "b": "7B"})


def test_optional_inputs_are_empty(tmp_path: Path) -> None:
    """Where they are not given; conditions see that, too."""
    front = f"{HEAD}\ninputs: [{{name: a, kind: string}}]"
    body = "user:\n<{{ a }}>{% if a %}A{% else %}B{% endif %}{{ a|default('C') }}{{ a is defined }}"

    assert [("user", "<>BCFalse")] == said(tmp_path, body, front=front)
    assert [("user", "<x>AxTrue")] == said(tmp_path, body, {"a": "x"}, front=front)


def test_a_body_without_markers_is_one_message(tmp_path: Path) -> None:
    """Also where its inputs leave nothing of it."""
    assert [("system", "")] == said(tmp_path, "{{ a }}", {"a": ""})


def test_what_inputs_make_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the number of characters, with the empty lines in place of the frontmatter."""
    monkeypatch.setattr(template, "LONGEST", 8)

    assert [("system", "abcd")] == said(tmp_path, "{{ a }}", {"a": "abcd"})
    with pytest.raises(PromptError, match="the template makes more than 8 characters of its inputs"):
        said(tmp_path, "{{ a }}", {"a": "abcde"})


def test_defaults_are_filled_in(tmp_path: Path) -> None:
    """Where nothing else is given."""
    front = f"{HEAD}\ninputs: {{a: one, b: 2}}"

    assert [("user", "one 3")] == said(tmp_path, "user:\n{{ a }} {{ b }}", {"b": 3}, front=front)


def test_undeclared_inputs_are_filled_in(tmp_path: Path) -> None:
    """A prompt may say nothing about its inputs."""
    assert [("user", "x")] == said(tmp_path, "user:\n{{ a }}", {"a": "x", "b": "y"})


def test_templates_do_not_change_inputs(tmp_path: Path) -> None:
    """The next run has them as they were."""
    inputs = {"a": [1]}

    with pytest.raises(PromptError, match=r"sample\.prompty:6: the template failed: SecurityError"):
        said(tmp_path, "user:\n{{ a.append(2) }}", inputs)

    assert {"a": [1]} == inputs


def test_an_input_that_has_no_text(tmp_path: Path) -> None:
    """Whatever it raises, the error is about the line that asked for its text."""

    class Mute:
        def __str__(self) -> str:
            raise OSError("gone")

    with pytest.raises(PromptError, match=r"sample\.prompty:7: the template failed: OSError: gone"):
        said(tmp_path, "user:\nA\n{{ a }}", {"a": Mute()})


def test_a_prompt_serves_any_number_of_runs(tmp_path: Path) -> None:
    """Its messages are made anew each time."""
    prompt = loaded(tmp_path, "user:\n{{ a }}")
    prompt.messages({"a": "x"})[0]["content"] = "changed"

    assert [("user", "x")] == parts(prompt.messages({"a": "x"}))
    assert [("user", "y")] == parts(prompt.messages({"a": "y"}))
