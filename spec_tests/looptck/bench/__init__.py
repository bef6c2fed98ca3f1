"""One run on the bench: a scenario for provider and tools, the run, and the questions that checks ask of it."""
