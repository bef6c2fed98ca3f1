"""The provider: the fake model behind real HTTP, its toolbox, and what it can be told to do."""
