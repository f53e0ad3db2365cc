"""Handlers of statements and expressions, registered by ``@visits``; and of targets of assignments, by ``@assigns``."""
