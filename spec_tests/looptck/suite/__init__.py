"""The suite at work: which checks are played to an implementation, and what verdicts they give."""
