"""Requirements of programs."""
