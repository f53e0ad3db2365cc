"""Predicts what a program asks of each GPU and what it gets: ``tfmemlint plan``, by static analysis alone."""
