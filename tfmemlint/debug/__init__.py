"""Show what the analysis sees in a program: for whoever chases a false alarm."""
