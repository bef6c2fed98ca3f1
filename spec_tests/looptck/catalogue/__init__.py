"""Data files that people write: requirements, traits, agents, known failures, and their location."""
