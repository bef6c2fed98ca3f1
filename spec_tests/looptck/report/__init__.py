"""Reports for people. They read the session's results and do not change them."""
