"""A private view of the file system: read-only, with layers that take what is written, and with credentials hidden."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path

from tfmemlint.verify.child.sandbox import kernel
from tfmemlint.verify.child.sandbox.places import mounts_below

SHARED_MEMORY_MIB = 2048
"""The size of the private ``/dev/shm``; a bound without a deeper reason."""
_LAYERS = "layers"


def layers_in(scratch: str) -> Path:
    """Return the folder of the layers in a scratch folder."""
    return Path(scratch, _LAYERS)


def isolate(
    scratch: str, layered: Collection[str], writable: Collection[str], hidden: Collection[str]
) -> tuple[list[str], bool]:
    """Make the file system read-only for this process, which is in a mount namespace of its own.

    Args:
        scratch: the folder that stays writable. It must not be in a layered folder.
        layered: folders in which a program may write without a change of the real ones.
        writable: folders and files that are really written.
        hidden: folders and files that look empty.

    Returns:
        The layered folders (the kernel can't put a layer on every one), and whether all others are read-only.

    Raises:
        OSError: the kernel refuses.
    """
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    held = _open([*writable, *(point for folder in layered for point in mounts_below(folder))])
    try:
        read_only = _make_read_only(scratch)
        done = [folder for number, folder in enumerate(layered) if _layer(scratch, folder, number)]
        for path, descriptor in held.items():
            with contextlib.suppress(OSError):
                kernel.mount(f"/proc/self/fd/{descriptor}", path, flags=kernel.MS_BIND | kernel.MS_REC)
                if read_only and path in writable:
                    kernel.set_read_only(path, False)
    finally:
        for descriptor in held.values():
            os.close(descriptor)
    options = f"size={SHARED_MEMORY_MIB}m,mode=1777"
    with contextlib.suppress(OSError):
        kernel.mount("tmpfs", "/dev/shm", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)
    empty = Path(scratch, "nothing")
    empty.mkdir(mode=0o555)
    for path in hidden:
        is_folder = stat.S_ISDIR(os.lstat(path).st_mode) if os.path.lexists(path) else None
        if is_folder is not None:
            # A refused mount must not leave credentials in sight.
            kernel.mount(str(empty) if is_folder else os.devnull, path, flags=kernel.MS_BIND)
    return done, read_only


def _make_read_only(scratch: str) -> bool:
    """Make all but the scratch folder read-only. It says whether the kernel can: it is older than 5.12 otherwise."""
    try:
        kernel.set_read_only("/", True, recursive=True)
    except OSError:
        return False
    kernel.mount(scratch, scratch, flags=kernel.MS_BIND)
    kernel.set_read_only(scratch, False)
    return True


def _open(paths: Collection[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for path in paths:
        with contextlib.suppress(OSError):
            found[path] = os.open(path, os.O_PATH | os.O_CLOEXEC)
    return found


def _layer(scratch: str, folder: str, number: int) -> bool:
    """Put a layer over a folder. It says whether the kernel did so."""
    place = layers_in(scratch) / str(number)
    upper, work = place / "written", place / "work"
    if any(character in f"{folder}{place}" for character in ":,\\"):
        return False  # they separate the options
    try:
        upper.mkdir(parents=True)
        work.mkdir()
        upper.chmod(stat.S_IMODE(Path(folder).stat().st_mode))
        options = f"lowerdir={folder},upperdir={upper},workdir={work},userxattr"
        flags = kernel.MS_NOSUID | kernel.MS_NODEV
        try:
            # What is written is thrown away: without this, the end of a run waits for all that the disk has to write.
            kernel.mount("overlay", folder, "overlay", flags, f"{options},volatile")
        except OSError:  # before Linux 5.10
            kernel.mount("overlay", folder, "overlay", flags, options)
    except OSError:
        return False
    return True


def written(scratch: str, layered: Mapping[str, str], most: int) -> list[str]:
    """Return the files that a program wrote or removed in layered folders, sorted, up to a number.

    Args:
        scratch: the scratch folder. layered: the folders, by the numbers of their layers. most: that number.
    """
    found: list[str] = []
    for number, folder in layered.items():
        upper = layers_in(scratch) / number / "written"
        for place, folders, files in os.walk(upper):
            folders[:] = [name for name in folders if name != "__pycache__"]
            for name in files:
                if len(found) > most:
                    return sorted(found)
                found.append(str(Path(folder, os.path.relpath(Path(place, name), upper))))
    return sorted(found)
