"""Agents in .prompty files, run under the names of Prompty's documents."""
