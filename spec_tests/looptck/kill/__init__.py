"""The kill matrix: the suite is played to broken loops, and each of its checks is shown to be able to fail."""
