"""What else is broken of ``prompty-spec`` and ``anthropic-loop``, rule by rule, and what falls with it."""

from __future__ import annotations

from meta.loops import broken, broken_agent_mode_requests, broken_history
from meta.loops import broken_rules as loops
from meta.loops.faults import Fault, because

CHAT = ("openai-chat/plain/sync",)
CHAT_STREAM = ("openai-chat/stream/sync",)
RESPONSES = ("openai-responses/plain/sync",)
MESSAGES = ("anthropic-messages/plain/sync",)

PROMPTY_SPEC = [
    Fault(
        loops.Shouted,
        ("spec-result-is-the-values-text",),
        CHAT,
        also=because(
            "the text of a result is judged",
            "spec-tool-message-format",
            "spec-kind-handler-is-the-fallback",
            "spec-runtime-tools-do-not-mix",
            "spec-agent-by-path-or-value",
            "spec-child-gets-arguments-and-bindings",
            "spec-single-child-calls-once",
            "spec-agentic-child-loops",
        ),
    ),
    Fault(
        loops.TextArguments,
        ("spec-handler-gets-the-parsed-arguments",),
        CHAT,
        also=because(
            "an argument is a number",
            "spec-bindings-are-injected",
            "spec-binding-needs-its-input",
            "spec-injected-values-are-not-echoed",
        ),
    ),
    Fault(
        loops.ResultsFirst,
        ("spec-calls-come-before-their-results",),
        CHAT,
        also=because(
            "the service refuses the request with the results, and the run ends there",
            "spec-assistant-message-format",
            "spec-tool-message-format",
            "spec-injected-values-are-not-echoed",
            "spec-agent-by-path-or-value",
            "spec-agentic-child-loops",
            "spec-child-has-a-history-of-its-own",
            "spec-child-counts-its-own-iterations",
            "spec-run-is-one-span",
            "spec-tool-span-for-each-call",
            "spec-child-spans-are-nested",
            "spec-default-limit-is-ten",
            "spec-limit-counts-model-calls",
            "spec-last-round-runs-its-tools",
            "spec-limit-raises-runtime-error",
            "spec-limit-error-has-the-documents-text",
            "spec-each-iteration-sends-all-messages",
            "spec-answer-is-returned",
        ),
    ),
    Fault(loops.OddMessages, ("spec-assistant-message-format",), CHAT),
    Fault(loops.Undaunted, ("spec-failed-model-call-ends-the-loop",), CHAT),
    Fault(
        loops.Unoffered,
        ("spec-runtime-tools-are-offered",),
        CHAT,
        also=because(
            "the second tool is looked for",
            "spec-bound-parameters-are-not-offered",
            "spec-prompty-tool-offers-its-childs-inputs",
        ),
    ),
    Fault(loops.Injectable, ("spec-inputs-are-no-role-markers",), CHAT),
    Fault(loops.NoDefaults, ("spec-input-defaults-are-filled-in",), CHAT),
    Fault(
        broken_agent_mode_requests.Unfilled,
        ("spec-prompt-comes-from-agent-and-inputs",),
        CHAT,
        also=because(
            "nothing is filled in",
            "spec-input-defaults-are-filled-in",
            "spec-inputs-are-no-role-markers",
            "spec-child-gets-arguments-and-bindings",
            "spec-child-has-a-history-of-its-own",
        ),
    ),
    Fault(loops.TalkingChildren, ("spec-childs-text-is-not-forwarded",), CHAT_STREAM),
    Fault(broken_agent_mode_requests.Unresolved, ("spec-environment-defaults-are-used",), CHAT),
    Fault(
        broken_agent_mode_requests.Joined,
        ("spec-one-tool-message-for-each-call",),
        CHAT,
        also=because(
            "the service refuses the call that is left unanswered",
            "spec-kind-handler-is-the-fallback",
            "spec-run-is-one-span",
            "spec-tool-span-for-each-call",
            "spec-calls-come-before-their-results",
        ),
    ),
    Fault(broken_history.OneMessageEach, ("spec-anthropic-results-share-a-message",), MESSAGES),
    Fault(
        broken_history.ByItemId,
        ("spec-responses-output-by-call-id",),
        RESPONSES,
        also=because(
            "the service finds no call for the result, and the run ends there",
            "spec-injected-values-are-not-echoed",
            "spec-kind-handler-is-the-fallback",
            "spec-runtime-tools-do-not-mix",
            "spec-run-is-one-span",
            "spec-tool-span-for-each-call",
            "spec-default-limit-is-ten",
            "spec-limit-counts-model-calls",
            "spec-last-round-runs-its-tools",
            "spec-limit-raises-runtime-error",
            "spec-limit-error-has-the-documents-text",
            "spec-each-iteration-sends-all-messages",
            "spec-result-is-the-values-text",
            "spec-one-tool-message-for-each-call",
            "spec-answer-is-returned",
        ),
    ),
    Fault(
        broken.OneTooMany,
        ("spec-last-round-runs-its-tools", "spec-limit-counts-model-calls", "spec-default-limit-is-ten"),
        CHAT,
    ),
    Fault(
        loops.TrailsOff,
        ("spec-answer-is-returned",),
        CHAT,
        also=because(
            "the end of an answer is looked for",
            "spec-agent-by-path-or-value",
            "spec-child-gets-arguments-and-bindings",
            "spec-single-child-calls-once",
            "spec-agentic-child-loops",
            "spec-child-counts-its-own-iterations",
        ),
    ),
    Fault(loops.Forgetting, ("spec-each-iteration-sends-all-messages",), CHAT),
]

ANTHROPIC_LOOP = [
    Fault(
        loops.ServersUnnamed,
        ("claude-mcp-servers-are-named",),
        MESSAGES,
        also=because(
            "not reached: the service refuses a toolset of no server",
            "claude-paused-turn-is-resumed",
            "claude-mcp-toolsets-are-offered",
            "claude-mcp-stands-beside-tools",
            "claude-mcp-beta-is-asked-for",
        ),
    ),
    Fault(
        loops.ToolsetsMissing,
        ("claude-mcp-toolsets-are-offered",),
        MESSAGES,
        also=because(
            "not reached: the service refuses a server without a toolset",
            "claude-paused-turn-is-resumed",
            "claude-mcp-servers-are-named",
            "claude-mcp-stands-beside-tools",
            "claude-mcp-beta-is-asked-for",
        ),
    ),
    Fault(loops.BetaOutdated, ("claude-mcp-beta-is-asked-for",), MESSAGES),
]
