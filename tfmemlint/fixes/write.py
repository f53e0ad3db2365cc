"""Files are replaced whole: an interrupted run leaves each one old or new."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace the content of ``path``: write beside it, then rename; mode kept, a link's target replaced.

    Raises:
        OSError: the file can't be replaced; it is then as it was, and nothing is left beside it.
    """
    # Renaming onto a link would put a file in the link's place.
    target = Path(path).resolve(strict=True)
    info = target.stat()
    if not os.access(target, os.W_OK):
        # A rename asks for no right on the file itself: without this, a write-protected file would be replaced.
        raise PermissionError(13, "Permission denied", str(path))
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(OSError):
            os.chown(name, info.st_uid, info.st_gid)
        Path(name).chmod(stat.S_IMODE(info.st_mode))
        Path(name).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
