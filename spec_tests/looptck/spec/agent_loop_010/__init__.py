"""Requirements of the 010 Agent/Loop protocol."""
