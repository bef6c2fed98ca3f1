"""What people write and the kit reads: requirements, traits, agents, known failures, and where the data lies."""
