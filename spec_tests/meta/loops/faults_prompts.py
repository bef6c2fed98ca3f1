"""What each broken loop of `broken_prompts` breaks of the profile ``prompty-spec``, and what falls with it."""

from __future__ import annotations

from meta.loops import broken
from meta.loops import broken_prompts as loops
from meta.loops.faults import CHAT, CHAT_STREAM, STREAMS, Fault, because

ONE = ("openai-chat/plain/sync",)
"""Enough where a fault is in the loop itself."""
ASYNC = ("openai-chat/*/async",)
CHILDREN = "spec-child-gets-arguments-and-bindings"
SPANS_OF_CHILDREN = "spec-child-spans-are-nested"
BINDINGS = [
    Fault(
        loops.ModelKnowsBetter,
        ("spec-binding-overrides-the-model",),
        ONE,
        also={CHILDREN: "a child's arguments are bound too"},
    ),
    Fault(
        loops.NullInjected,
        ("spec-binding-needs-its-input",),
        ONE,
        also={"spec-bindings-apply-to-any-arguments": "the simplest example has a binding without its input"},
    ),
    Fault(
        loops.FirstBindingOnly,
        ("spec-bindings-are-injected",),
        ONE,
        also=because(
            "not reached: the control has two bindings",
            "spec-binding-needs-its-input",
            "spec-injected-values-are-not-echoed",
        ),
    ),
    Fault(
        loops.Telltale,
        ("spec-injected-values-are-not-echoed",),
        CHAT,
        also={"spec-echoed-call-has-the-documents-form": "it writes the arguments anew, and spaces are lost"},
    ),
    Fault(
        loops.EverythingOffered,
        ("spec-bound-parameters-are-not-offered",),
        ONE,
        also={"spec-agent-by-path-or-value": "the tools of a file are not those of the driver, so they are right"},
    ),
]
"""Parameters that are not the model's."""

DISPATCH = [
    Fault(loops.KindFirst, ("spec-name-registry-wins",), ONE),
    Fault(
        loops.Unkind,
        ("spec-kind-handler-is-the-fallback",),
        ONE,
        also={
            "spec-name-registry-wins": "not reached: the control is run by its kind",
            **because(
                "prompty is a kind too",
                "spec-child-path-is-relative-to-its-parent",
                CHILDREN,
                "spec-single-child-calls-once",
                "spec-agentic-child-loops",
                "spec-child-has-a-history-of-its-own",
                "spec-child-counts-its-own-iterations",
                "spec-childs-error-ends-the-loop",
                SPANS_OF_CHILDREN,
            ),
            **because(
                "nothing of a kind runs",
                "spec-bindings-come-before-dispatch",
                "spec-raising-kind-handler-ends-the-loop",
            ),
        },
    ),
    Fault(
        loops.BoundByNameOnly,
        ("spec-bindings-come-before-dispatch",),
        ONE,
        also={CHILDREN: "a child is run by the handler of its kind"},
    ),
    Fault(
        loops.Clinging,
        ("spec-runtime-tools-last-one-run",),
        ONE,
        also=because(
            "the tool had a handler in an earlier case",
            "spec-missing-handler-raises",
            "spec-missing-handler-error-has-the-documents-text",
        ),
    ),
    Fault(loops.OneForAll, ("spec-runtime-tools-do-not-mix",), ONE),
]
"""Who runs a tool."""

MESSAGES = [
    Fault(loops.ResultsAsLists, ("spec-tool-message-format",), CHAT),
    Fault(loops.Talkative, ("spec-no-text-of-a-tool-turn",), STREAMS),
    Fault(broken.Hoarder, ("spec-text-is-forwarded",), STREAMS),
    Fault(
        loops.Impatient,
        ("spec-arguments-are-whole-before-tools-run",),
        CHAT_STREAM,
        also={"spec-tool-turn-is-read-to-its-end": "the calls of a long stream run without their arguments"},
    ),
]
"""What is sent, and what is given to the caller."""

UNFOUND = because(
    "not reached: the prompt is not loaded",
    CHILDREN,
    "spec-single-child-calls-once",
    "spec-agentic-child-loops",
    "spec-child-has-a-history-of-its-own",
    "spec-child-counts-its-own-iterations",
    "spec-childs-error-ends-the-loop",
    "spec-prompty-tool-offers-its-childs-inputs",
    SPANS_OF_CHILDREN,
)

PROMPTS = [
    Fault(loops.FromHere, ("spec-child-path-is-relative-to-its-parent",), ONE, also=UNFOUND),
    Fault(loops.FromTheTop, ("spec-child-path-is-relative-to-its-parent",), ONE, also=UNFOUND),
    Fault(
        loops.AskedOnce,
        ("spec-agentic-child-loops",),
        ONE,
        also=because(
            "needs a child that calls tools",
            CHILDREN,
            "spec-child-path-is-relative-to-its-parent",
            "spec-single-child-calls-once",
            "spec-child-has-a-history-of-its-own",
            "spec-child-counts-its-own-iterations",
            "spec-childs-error-ends-the-loop",
            SPANS_OF_CHILDREN,
        ),
    ),
    Fault(loops.AlwaysLooping, ("spec-single-child-calls-once",), ONE),
    Fault(loops.Orphaned, (CHILDREN,), ONE),
]
"""Prompts that run prompts."""

SPANS = [
    Fault(loops.Beside, (SPANS_OF_CHILDREN,), (*CHAT, *ASYNC)),
    Fault(
        loops.Untold,
        ("spec-tool-span-for-each-call",),
        (*CHAT, *ASYNC),
        also={SPANS_OF_CHILDREN: "without a tool's span there is nothing in which a child's lies"},
    ),
    Fault(loops.Nameless, ("spec-tool-span-for-each-call",), ONE),
    Fault(
        loops.Untimely,
        ("spec-run-is-one-span",),
        (*CHAT, *ASYNC),
        also={SPANS_OF_CHILDREN: "the run of a child ends as early"},
    ),
]
"""What is told of a run."""

FAULTS = [*BINDINGS, *DISPATCH, *MESSAGES, *PROMPTS, *SPANS]
