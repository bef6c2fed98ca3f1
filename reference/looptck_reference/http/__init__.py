"""Model calls over HTTP: requests and replies, and the runners that wait for them."""
