"""Handlers of kinds of values: how each is called, which attributes, items and methods it has."""
