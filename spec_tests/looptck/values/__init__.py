"""Plain values that all rooms share. They import nothing of the kit but each other."""
