"""Helpers that handlers are built from. They work on the context; none of them registers anything."""
