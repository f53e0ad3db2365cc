"""Programs that Python code starts, with the variables that it gives them."""
