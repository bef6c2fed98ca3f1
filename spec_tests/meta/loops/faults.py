"""What each broken loop breaks: the requirements that name its fault, and what else falls with them, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from looptck_reference.driver import Driver
from meta.loops import broken, broken_history, broken_stops, broken_streams, stateful

SYNC = ("*/sync",)
CHAT = ("openai-chat/*/sync",)
CHAT_STREAM = ("openai-chat/stream/sync",)
RESPONSES = ("openai-responses/*/sync",)
RESPONSES_STREAM = ("openai-responses/stream/sync",)
MESSAGES = ("anthropic-messages/*/sync",)
MESSAGES_STREAM = ("anthropic-messages/stream/sync",)
STREAMS = ("*/stream/sync",)


@dataclass(frozen=True)
class Fault:
    """A broken loop, the cells that its fault concerns, and every requirement that it fails in them.

    All of the profile is judged in `whole`. In the other cells, sync and those of the fault, it is the requirements
    that name the fault, and those that fail in cells of their own.
    """

    loop: type[Driver]
    named: tuple[str, ...]
    cells: tuple[str, ...]
    also: Mapping[str, str] = field(default_factory=dict)
    """What else fails, each with its reason."""
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The cells of requirements that fail in others than `cells`."""
    whole: tuple[str, ...] = ()
    """The cells in which all of the profile is judged; none: `cells`."""


def because(reason: str, *requirements: str) -> dict[str, str]:
    """One reason for several requirements."""
    return dict.fromkeys(requirements, reason)


AGREE = {"wires-agree": SYNC}
"""A check of this requirement plays all wires, so a fault of one wire shows in the cells of all."""


READ_RIGHT = "recorded-traffic-is-read-right"
ONLY_PLAIN_RECORDINGS = {**AGREE, READ_RIGHT: ("openai-responses/plain/sync",)}
"""The recorded streams of Responses are judged by `missing-sequence-is-tolerated` alone."""


ANYWHERE = [
    Fault(
        broken.NoLimit,
        ("limit-is-a-ceiling",),
        cells=("*",),
        also={
            "limit-of-zero-runs-no-tool": "0 is a limit too",
            "limit-reached-is-told": "not reached: the limit never takes hold",
            "loop-is-finite-by-default": "the default is a limit too",
        },
        whole=("openai-chat/plain/sync",),
    ),
    Fault(
        broken.OneTooMany,
        ("limit-is-a-ceiling",),
        cells=("*",),
        also={
            "limit-of-zero-runs-no-tool": "one call of the model is one round of tools",
            "limit-reached-is-told": "not reached: the limit takes hold too late",
        },
        whole=CHAT,
    ),
    Fault(
        broken.Swapped,
        ("results-carry-their-call-ids",),
        cells=("*",),
        also={
            "failing-call-leaves-the-others-whole": "the failed call's error lands on another",
            READ_RIGHT: "a recording has two calls in a turn",
            "unknown-tool-is-not-lost": "the error about the unknown tool lands on the known one",
        },
        whole=CHAT,
    ),
    Fault(
        broken.FirstCallOnly,
        ("every-call-of-a-turn-runs",),
        cells=("*",),
        also={
            **because(
                "needs two calls in a turn",
                "calls-in-one-delta-all-run",
                "interleaved-calls-stay-apart",
                "one-index-two-ids-are-two-calls",
                "framing-does-not-matter",
                READ_RIGHT,
            ),
            "every-call-is-answered": "what did not run has no result",
            "requests-are-well-formed": "the service refuses a history with an unanswered call",
            "results-keep-call-order": "not reached: one result has no order",
            "wires-agree": "not reached: the service refuses the unanswered call",
        },
        whole=CHAT,
    ),
    Fault(broken.Hoarder, ("final-text-arrives-as-it-is-written",), cells=("*",), whole=CHAT),
]
"""The fault is in the loop itself, and the same on all wires and in both modes."""

REFUSED = "the service refuses the request with the results, and the run ends there"

HISTORY = [
    Fault(broken_history.OneMessageEach, ("results-share-one-message",), MESSAGES),
    Fault(
        broken_history.TextFirst,
        ("results-come-first",),
        MESSAGES,
        also=because(
            REFUSED,
            "framing-does-not-matter",
            READ_RIGHT,
            "requests-are-well-formed",
            "results-follow-their-calls",
            "wires-agree",
        ),
        where=AGREE,
    ),
    Fault(
        broken_history.TextDropped,
        ("text-beside-calls-is-echoed", "turn-is-echoed-in-order"),
        SYNC,
        also={
            "hosted-tools-are-echoed": "text stands behind the pieces of the hosted tool",
            "paused-turn-is-resumed": "a paused turn has text too",
            "compacted-turn-is-resumed": "a compacted turn is text",
        },
    ),
    Fault(
        broken_history.ThinkingDropped,
        ("thinking-is-echoed",),
        MESSAGES,
        also={"turn-is-echoed-in-order": "thinking is a piece of its turn"},
    ),
    Fault(
        broken_history.SignatureChanged,
        ("thinking-is-echoed",),
        MESSAGES,
        also={"turn-is-echoed-in-order": "a turn goes back unchanged"},
    ),
    Fault(broken_history.RedactedDropped, ("redacted-thinking-is-echoed",), MESSAGES),
    Fault(
        broken_history.ReasoningDropped,
        ("reasoning-is-echoed",),
        RESPONSES,
        also={"turn-is-echoed-in-order": "reasoning is a piece of its turn"},
    ),
    Fault(
        broken_history.HostedDispatched,
        ("hosted-tools-are-never-dispatched",),
        ("openai-responses/*/sync", "anthropic-messages/*/sync"),
        also={"results-stand-alone-beside-a-pending-hosted-tool": "the hosted tool is given a result"},
    ),
]
"""What a request carries of the turns before it."""

CUT_OFF = because(
    REFUSED,
    "chunks-join-to-the-answer",
    "every-call-of-a-turn-runs",
    "final-text-arrives-as-it-is-written",
    "final-text-is-returned",
    "history-only-grows",
    "limit-allows-what-fits",
    "limit-is-a-ceiling",
    "loop-goes-on-until-the-model-answers",
    "loop-is-finite-by-default",
    "model-name-is-sent",
    "reasoning-is-echoed",
    READ_RIGHT,
    "requests-are-well-formed",
    "requests-ask-for-the-right-mode",
    "results-follow-their-calls",
    "results-keep-call-order",
    "text-before-calls-is-not-the-answer",
    "tools-are-offered-every-time",
    "turn-is-echoed-in-order",
    "wires-agree",
)
"""What comes to nothing on a wire whose every second request is refused."""

REFUSED_OUTRIGHT = [
    Fault(
        broken_history.CallsNotEchoed,
        ("calls-are-echoed",),
        RESPONSES,
        also={
            **CUT_OFF,
            "results-carry-their-call-ids": REFUSED,
            **because("what was echoed shows how a call was read", "arguments-are-echoed-as-given"),
            **because("a call is a piece of its turn", "hosted-tools-are-echoed", "unknown-pieces-are-echoed"),
            **because(
                "a stream was read right if its calls ran and were echoed",
                "byte-order-mark-is-skipped",
                "bytes-may-be-cut-anywhere",
                "comments-are-skipped",
                "cr-line-ends-are-read",
                "crlf-line-ends-are-read",
                "data-lines-are-joined",
                "empty-deltas-change-nothing",
                "event-names-may-be-missing",
                "first-delta-names-the-call",
                "fragmented-arguments-are-joined",
                "incomplete-telling-loses-no-call",
                "interleaved-blocks-stay-apart",
                "line-separators-in-text-survive",
                "missing-sequence-is-tolerated",
                "no-argument-delta-is-an-empty-object",
                "other-fields-are-skipped",
                "padding-changes-nothing",
                "space-after-colon-is-optional",
                "stray-end-marker-is-skipped",
                "unknown-events-are-skipped",
                "unknown-fields-are-ignored",
                "whole-items-need-no-deltas",
            ),
        },
        where=ONLY_PLAIN_RECORDINGS,
    ),
    Fault(
        broken_history.ByItemId,
        ("results-carry-their-call-ids",),
        RESPONSES,
        also={
            **CUT_OFF,
            **because(
                "the result is not found under the id of its call",
                "bad-arguments-are-not-lost",
                "empty-result-is-answered",
                "every-call-is-answered",
                "failing-call-leaves-the-others-whole",
                "hosted-tools-are-never-dispatched",
                "raising-tool-is-not-lost",
                "structured-result-reaches-the-model",
                "text-result-arrives-unchanged",
                "unknown-tool-is-not-lost",
            ),
            "incomplete-telling-loses-no-call": "the tool has run, and then the run fails",
            "missing-sequence-is-tolerated": "the recorded streams are judged by it",
        },
        where=ONLY_PLAIN_RECORDINGS,
    ),
]
"""Faults of which the service hears at once: every conversation on that wire ends with its second request."""

STREAM = [
    Fault(
        broken_streams.LinesOfText,
        ("line-separators-in-text-survive",),
        STREAMS,
        also=because(
            "one recording has such text", "framing-does-not-matter", READ_RIGHT, "missing-sequence-is-tolerated"
        ),
        where=dict.fromkeys(("framing-does-not-matter", READ_RIGHT), (*CHAT_STREAM, *MESSAGES_STREAM)),
    ),
    Fault(
        broken_streams.CallsMerged,
        ("interleaved-calls-stay-apart",),
        CHAT_STREAM,
        also={"framing-does-not-matter": "on this wire taking turns is a framing like any other"},
    ),
    Fault(
        broken_streams.BlocksMerged,
        ("interleaved-blocks-stay-apart",),
        MESSAGES_STREAM,
        also={READ_RIGHT: "in recordings of llama.cpp a thought goes on after the next block has begun"},
    ),
    Fault(broken_streams.ItemsMerged, ("interleaved-blocks-stay-apart",), RESPONSES_STREAM),
    Fault(
        broken_streams.Hasty,
        ("fragmented-arguments-are-joined",),
        MESSAGES_STREAM,
        also=because(
            "pieces of a few characters, of which some are JSON by themselves",
            "framing-does-not-matter",
            "interleaved-blocks-stay-apart",
        ),
    ),
    Fault(
        broken_streams.Eager,
        ("calls-run-after-the-stream-ends",),
        CHAT_STREAM,
        also={
            **because(
                "what ran before the end of the stream has run, whatever comes then",
                "cut-reply-runs-nothing",
                "error-event-runs-nothing",
                "filtered-call-never-runs",
                "stream-without-finish-runs-nothing",
                "truncated-call-never-runs",
            ),
            "twin-ids-lose-nothing": "it knows what it ran early by the id alone",
        },
    ),
    Fault(broken_streams.ErrorIsTheEnd, ("error-event-runs-nothing", "error-event-is-told"), STREAMS),
    Fault(
        broken_streams.AnyEndIsTheEnd,
        ("stream-without-finish-runs-nothing", "stream-without-finish-is-told"),
        STREAMS,
        also={
            "page-instead-of-json-is-told": "a page is a stream without events",
            "unfinished-response-runs-nothing": "a response that goes on elsewhere has no last event",
        },
    ),
    Fault(
        broken_streams.NoArgumentsCrash,
        ("empty-arguments-are-an-empty-object", "no-argument-delta-is-an-empty-object"),
        # A plain reply of Messages has an object for every input, and Responses tells the arguments once more whole.
        ("openai-*/sync", "anthropic-messages/stream/sync"),
        where={"no-argument-delta-is-an-empty-object": MESSAGES_STREAM},
    ),
]
"""How a stream is read."""

STOPS = [
    Fault(
        broken_stops.CutCallsRun,
        ("truncated-call-never-runs",),
        SYNC,
    ),
    Fault(broken_stops.FilteredCallsRun, ("filtered-call-never-runs",), ("openai-*/sync",)),
    Fault(broken_stops.RefusedCallsRun, ("refused-call-never-runs",), MESSAGES),
    Fault(
        broken_stops.BadCallsDropped,
        ("bad-arguments-are-not-lost",),
        ("openai-*/sync", "anthropic-messages/stream/sync"),  # a plain reply of Messages has no word for such arguments
    ),
    Fault(
        broken_stops.PauseIsTheEnd,
        ("paused-turn-is-resumed",),
        MESSAGES,
        also={
            "compacted-turn-is-resumed": "compaction is a pause",
            "pauses-are-finite": "not reached: one pause is the end",
        },
    ),
    Fault(
        broken_stops.AllThatWasSaid,
        ("wires-agree",),
        RESPONSES,
        also=because(
            "there is text beside the calls",
            "loop-goes-on-until-the-model-answers",
            "missing-sequence-is-tolerated",
            READ_RIGHT,
            "text-before-calls-is-not-the-answer",
        ),
        where=ONLY_PLAIN_RECORDINGS,
    ),
]
"""What a turn means, and what the caller gets."""

MEMORY = [
    Fault(
        stateful.Rerunning,
        ("lost-memory-reruns-no-tool",),
        RESPONSES,
        also={"refused-memory-is-done-without": "it reruns its tools there too"},
    ),
    Fault(
        stateful.Forgetting,
        ("lost-memory-reruns-no-tool",),
        RESPONSES,
        also={"refused-memory-is-done-without": "it forgets the history there too"},
    ),
    Fault(
        stateful.StillShort,
        ("lost-memory-reruns-no-tool",),
        RESPONSES,
        also={"refused-memory-is-done-without": "it sends what is new alone there too"},
    ),
]
"""What is done where the service has lost the conversation."""

FAULTS = [*ANYWHERE, *HISTORY, *REFUSED_OUTRIGHT, *STREAM, *STOPS, *MEMORY]
