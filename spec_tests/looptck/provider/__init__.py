"""The provider: the fake model behind real HTTP, its toolbox, and the faults that it can play."""
