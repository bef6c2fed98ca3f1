"""The kill matrix: the suite runs on broken loops, which shows that each of its checks can fail."""
