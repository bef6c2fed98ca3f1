"""The looptck driver of my loop. `looptck.driver.Capabilities` lists what more it may declare."""

from looptck.driver import error, handlers, started, value


class Driver:
    def start(self):
        # Other wires: "openai-responses", "anthropic-messages".
        return started("my loop", "0", wires=["openai-chat"], modes=["sync"])

    def run(self, case, emit):
        try:
            return value(answer(case, handlers(case)))
        except Exception as exception:
            return error(exception)


def answer(case, functions):
    """Run the loop on one case and return its final text.

    It asks case["model"] at case["base_url"] with case["api_key"], beginning with case["messages"]: role and content.
    The URL ends in /v1, as OpenAI clients take it; for an Anthropic client write case["base_url"].removesuffix("/v1").
    Each of case["tools"] has a name, a description and parameters (a JSON Schema); functions[name] runs it.
    """
    raise NotImplementedError("call your loop here")  # the one line to write
