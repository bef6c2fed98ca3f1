"""The loop: a state machine without I/O."""
