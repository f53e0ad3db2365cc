"""Find files as git would see them, and read each as text with what it takes to write it back unchanged."""

from tfmemlint.sources.decode import decode, read
from tfmemlint.sources.text import Source, Unreadable, read_bytes
from tfmemlint.sources.walking import Walk, walk

__all__ = ["Source", "Unreadable", "Walk", "decode", "read", "read_bytes", "walk"]
