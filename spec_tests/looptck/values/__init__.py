"""Plain values that all packages share. They import only each other."""
