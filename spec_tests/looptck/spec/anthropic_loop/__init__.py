"""Requirements of the Anthropic tool-execution-loop skill."""
