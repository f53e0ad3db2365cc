"""Shows what the analysis sees in a program, to find the cause of a false alarm."""
