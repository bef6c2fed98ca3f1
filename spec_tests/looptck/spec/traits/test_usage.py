"""Traits of usage: how cached tokens are counted, and what a conversation adds."""

from __future__ import annotations

from looptck.bench.assertions.usage import reported, told, using
from looptck.bench.talk import Talk
from looptck.catalogue.traits import trait
from looptck.suite.asking import Loop
from looptck.values.turns import Usage, says
from looptck.values.verdicts import NotReached


@trait("cached-tokens-in-usage")
def test_cached_tokens(loop: Loop) -> None:
    """Of the 457 tokens of a prompt 311 came from a cache, as each wire says it."""
    run = loop.plays(using(says("Hello."), Usage(457, 23, cached=311)))

    (usage,) = reported(run)
    match told(run).get("input_tokens"):
        case None:
            loop.answers("not-told")
        case usage.input as number:
            loop.answers("included", number)
        case number if number == usage.input - usage.cached:
            loop.answers("apart", number)
        case number:
            loop.answers("another", number)


@trait("usage-of-a-conversation")
def test_conversation(loop: Loop) -> None:
    """Two runs of a conversation, of one answer each; the number of output tokens, or the total."""
    talk = Talk(loop)
    loop.scenario.plays(using(says("Hello."), Usage(311, 23)))
    reported(talk.run("Greet me."))
    loop.scenario.plays(using(says("Hello again."), Usage(457, 41)))

    run = talk.run("Greet me again.")

    if len(reported(run)) != 1:
        raise NotReached("the second run should have one reply")
    numbers = told(run)
    match numbers.get("output_tokens", numbers.get("total_tokens")):
        case None:
            loop.answers("not-told")
        case 41 | 498 as number:
            loop.answers("of-the-run", number)
        case 64 | 832 as number:
            loop.answers("of-the-conversation", number)
        case number:
            loop.answers("another", number)
