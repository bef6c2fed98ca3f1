"""Right loops that add something of their own to what they were given: a sentence, a message, a tool."""

from __future__ import annotations

from typing import Any, ClassVar

from looptck_reference.driver import Driver

Json = dict[str, Any]
RULES = "Think first. Remember what the user asked first, and answer in the language of the question."
FINISH = {
    "name": "finish",
    "kind": "function",
    "description": "Ends the task.",
    "parameters": {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]},
    "url": None,
}


class Adding(Driver):
    """Changes each case before it is run."""

    def run(self, case: Json, emit: Any) -> Json:
        """Run the changed case."""
        return super().run(self.changed(case), emit)

    async def run_async(self, case: Json, emit: Any) -> Json:
        """Run the changed case."""
        return await super().run_async(self.changed(case), emit)

    def changed(self, case: Json) -> Json:
        """The case with what the loop adds."""
        return case


class AddsASentence(Adding):
    """Writes rules of its own behind the words of the system."""

    def changed(self, case: Json) -> Json:
        """Every system message is longer."""
        return {**case, "messages": [_longer(message) for message in case["messages"]]}


class SpeaksFirst(Adding):
    """Opens with a system message of its own."""

    def changed(self, case: Json) -> Json:
        """There is one message more."""
        return {**case, "messages": [{"role": "system", "content": RULES}, *case["messages"]]}


class AddsATool(Adding):
    """Offers a tool of its own beside those that it was given."""

    own: ClassVar[Json] = FINISH

    def changed(self, case: Json) -> Json:
        """There is one tool more."""
        return {**case, "tools": [*case["tools"], self.own]}


def _longer(message: Json) -> Json:
    return {**message, "content": f"{message['content']}\n\n{RULES}"} if message["role"] == "system" else message
