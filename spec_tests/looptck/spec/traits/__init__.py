"""Questions about traits, which no document decides."""
