"""Requirements of Prompty's Agent Mode guide."""
