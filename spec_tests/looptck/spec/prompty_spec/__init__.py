"""Requirements of Prompty's agent-loop specification."""
