"""Handlers of functions of Python's own and its standard library, registered by ``@builtin`` and ``@consumes``."""
