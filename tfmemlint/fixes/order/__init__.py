"""Repairs of the order of configuration and start: each strategy is a module."""
