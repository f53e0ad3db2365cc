"""Find files as git would see them, and read each as text with what it takes to write it back unchanged.

What reads texts is imported when it is first used: a file that does not matter is done when its bytes were searched.
"""

from tfmemlint.sources.regular import Unreadable, read_bytes
from tfmemlint.sources.walking import Walk, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tfmemlint.sources.decoding import decode, read
    from tfmemlint.sources.text import Source

__all__ = ["Source", "Unreadable", "Walk", "decode", "read", "read_bytes", "walk"]


def __getattr__(name: str) -> object:
    """Return what reads texts, which is imported now."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tfmemlint.sources import decoding, text

    globals().update(decode=decoding.decode, read=decoding.read, Source=text.Source)
    return globals()[name]
