"""Agents in .prompty files, run by the functions that Prompty's documents name."""
