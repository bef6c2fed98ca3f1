"""The provider for everybody's own tests: a mock of a model service that judges what it is asked."""
