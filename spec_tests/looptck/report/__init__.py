"""Reports: what a person reads. Each consumes the session's results; none changes them."""
