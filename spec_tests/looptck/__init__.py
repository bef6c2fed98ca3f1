"""looptck: a technology compatibility kit for LLM agent loops."""
