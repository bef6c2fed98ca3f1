"""One run: the scenario for provider and tools, the run itself, and the questions that checks ask about it."""
