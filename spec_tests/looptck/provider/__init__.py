"""The provider: the mock model behind real HTTP, its toolbox, and the faults that it can play."""
