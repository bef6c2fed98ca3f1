"""Templates that would compute for ever or fill the memory end in an error, when they are read and when rendered."""

from __future__ import annotations

from pathlib import Path

import pytest

from looptck_reference.prompty.prompts.errors import PromptError
from meta.reference.reference_prompts import said

BOMBS = {
    "nested loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% set c = b %}{% endfor %}{% endfor %}",
    "a recursive macro": "{% macro m(n) %}{{ m(n) }}{% endmacro %}{{ m(1) }}",
    "macros that call twice": "".join(
        f"{{% macro m{n}() %}}{{{{ m{n - 1}() }}}}{{{{ m{n - 1}() }}}}{{% endmacro %}}" for n in range(1, 40)
    ).replace("m0()", "1")
    + "{{ m39() }}",
    "a repeated text": "{{ 'a' * 10000000000 }}",
    "a repeated list": "{% set a = [1] * 10000000000 %}",
    "a power": "{{ 10 ** (10 ** 10) }}",
    "a negative power": "{{ 7 ** -99999999 }}",
    "a power, folded": "{% if 9 ** 999999999 %}x{% endif %}",
    "doubled by +": "{% set a = 'aaaaaaaa' %}" + "{% set a = a + a %}" * 60 + "{{ a|length }}",
    "doubled by ~": "{% set a = 'aaaaaaaa' %}" + "{% set a = a ~ a %}" * 60 + "{{ a|length }}",
    "doubled by join": "{% set a = 'aaaaaaaa' %}" + "{% set a = [a, a]|join %}" * 60 + "{{ a|length }}",
    "doubled by replace": "{% set a = 'aaaaaaaa' %}"
    + "{% set a = a|replace('a', 'aaaaaaaa') %}" * 20
    + "{{ a|length }}",
    "doubled by format": "{% set a = 'aaaaaaaa' %}" + "{% set a = '%s%s'|format(a, a) %}" * 60 + "{{ a|length }}",
    "doubled by a method": "{% set a = 'aaaaaaaa' %}" + "{% set a = a.join([a, a]) %}" * 60 + "{{ a|length }}",
    "doubled by .format": "{% set a = 'aaaaaaaa' %}" + "{% set a = '{0}{0}'.format(a) %}" * 60 + "{{ a|length }}",
    "doubled lists": "{% set a = [1, 2] %}" + "{% set a = a + a %}" * 60 + "{{ a|length }}",
    "nested lists": "{% set a = [1, 2] %}" + "{% set a = [a, a] %}" * 60 + "{{ a }}",
    "nested dictionaries": "{% set a = {'b': 1} %}" + "{% set a = {'b': a, 'c': a} %}" * 60 + "{{ a }}",
    "a width": "{{ 'a'|center(10000000000) }}",
    "a width of a method": "{{ 'a'.ljust(10000000000) }}",
    "a width in a form": "{{ '%10000000000d' % 1 }}",
    "a width in a form, filtered": "{{ '%10000000000d'|format(1) }}",
    "a width that is an argument": "{{ '%*d'|format(10000000000, 1) }}",
    "a width in .format": "{{ '{:10000000000}'.format(1) }}",
    "a width in a width": "{{ '{:{}}'.format(1, 10000000000) }}",
    "an indent": "{{ 'a\nb'|indent(10000000000) }}",
    "an indent of JSON": "{{ {'a': 1}|tojson(10000000000) }}",
    "a batch": "{{ [1]|batch(10000000000, 0)|list }}",
    "a range": "{{ range(10000000000)|list }}",
    "a shift": "{{ 1.__lshift__(10000000000) }}",
    "a product of numbers": "{% set a = 99999999 %}" + "{% set a = a * a %}" * 60 + "{{ a }}",
}


BOUNDS = r"SecurityError: |OverflowError: Range too big|RecursionError: "
"""How the error of a bound begins: where there is none, memory runs out, which is an error of the prompt as well."""


@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs_are_refused(bomb: str, tmp_path: Path) -> None:
    """Each is an error of the prompt, before it has filled anything."""
    with pytest.raises(PromptError, match=BOUNDS):
        said(tmp_path, BOMBS[bomb])


def test_what_is_usual_is_rendered(tmp_path: Path) -> None:
    """Loops, macros, filters and operators over ordinary inputs."""
    body = (
        "{% macro item(x) %}<{{ x|upper|center(6) }}>{% endmacro %}"
        "{% for a in b %}{{ item(a) ~ '-' * 3 }}{{ loop.index + 1 }}{% if not loop.last %}, {% endif %}{% endfor %}"
        " {{ '%05.1f'|format(2.25) }} {{ '{:>4}'.format(7) }} {{ b|join('/') }} {{ 2 ** 10 }} {{ (b + ['z'])|length }}"
    )

    assert [("system", "<  X   >---2, <  YY  >---3 002.2    7 x/yy 1024 3")] == said(tmp_path, body, {"b": ["x", "yy"]})


def test_steps_are_those_of_one_rendering(tmp_path: Path) -> None:
    """The next one begins anew."""
    body = "{% for a in range(90000) %}{% endfor %}x"

    assert [[("system", "x")]] * 3 == [said(tmp_path, body) for _ in range(3)]
