"""What a failure shows: the first event that is not as it should be, the cause, and the words for it."""
