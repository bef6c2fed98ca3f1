"""Requirements of servers that run the loop themselves."""
