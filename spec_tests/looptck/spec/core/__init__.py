"""Requirements of every loop, whatever document it follows."""
