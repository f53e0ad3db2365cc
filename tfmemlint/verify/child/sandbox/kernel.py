"""System calls of Linux that Python's standard library doesn't have.

Sources: the manual pages unshare(2), mount(2), mount_setattr(2), capabilities(7), prctl(2), and the kernel's headers
``linux/mount.h`` and ``linux/capability.h``. The numbers from 424 on are the same on every processor.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
import struct
import sys
from typing import Any

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 0x2, 0x4, 0x1000, 0x4000, 0x40000
_MOUNT_SETATTR = 442
_MOUNT_ATTR_RDONLY = 0x1
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_SET_DUMPABLE, _CAPBSET_DROP, _SET_NO_NEW_PRIVS = 4, 24, 38
_CAPABILITIES_VERSION = 0x20080522
_LAST_CAPABILITY = 63
_OF_FILES = 0b1111
"""CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER."""
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def call(name: str, *arguments: Any) -> int:
    """Call a function of the C library.

    Raises:
        OSError: it failed, or this C library lacks it.
    """
    if not sys.platform.startswith("linux"):
        raise OSError(errno.ENOSYS, "this system is not Linux")
    library = ctypes.CDLL(None, use_errno=True)
    try:
        function = getattr(library, name)
    except AttributeError:
        raise OSError(f"this C library has no {name}()") from None
    result = int(function(*arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def system_call(number: int, *arguments: Any) -> int:
    """Make a system call by its number.

    Raises:
        OSError: it failed.
    """
    return call("syscall", ctypes.c_long(number), *arguments)


def new_user(kinds: int) -> None:
    """Move this process into a new user namespace in which it keeps its user, and into new namespaces of ``kinds``.

    The process must have one thread.

    Raises:
        OSError: the kernel, or its configuration, refuses.
    """
    user, group = os.geteuid(), os.getegid()
    call("unshare", CLONE_NEWUSER | kinds)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/gid_map", f"{group} {group} 1")
    _write("/proc/self/uid_map", f"{user} {user} 1")


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode("ascii"))
    finally:
        os.close(descriptor)


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount a file system, or bind a file or a folder to another place.

    Raises:
        OSError: the kernel refuses.
    """
    encoded = [os.fsencode(text) if text else None for text in (source, target, kind)]
    call("mount", *encoded, ctypes.c_ulong(flags), os.fsencode(options) if options else None)


def set_read_only(path: str, read_only: bool, *, recursive: bool = False) -> None:
    """Make a mount read-only or writable; ``recursive``: those below it, too.

    Raises:
        OSError: the kernel refuses, or is older than 5.12.
    """
    attributes = _MountAttributes(*((_MOUNT_ATTR_RDONLY, 0) if read_only else (0, _MOUNT_ATTR_RDONLY)))
    flags = _AT_RECURSIVE if recursive else 0
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    system_call(_MOUNT_SETATTR, _AT_FDCWD, os.fsencode(path), flags, ctypes.byref(attributes), size)


def raise_loopback() -> None:
    """Start the loopback interface of a new network namespace.

    Raises:
        OSError: the kernel refuses.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(any_socket, _GET_FLAGS, request))[1]
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", flags | _UP))


def drop_capabilities(*, files: bool) -> None:
    """Give up capabilities, so that the process can't undo what was done to it, or look into other processes.

    Args:
        files: keep those that let the superuser use the files of others.

    Raises:
        OSError: the kernel refuses.
    """
    kept = _OF_FILES if files else 0
    held = _effective()
    for capability in range(_LAST_CAPABILITY + 1):
        if kept >> capability & 1:
            continue
        try:
            call("prctl", _CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0)
        except OSError:
            break  # the kernel has no more of them, or the process may not
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    left = held & kept
    call("capset", ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)(left, left, 0, 0, 0, 0)))
    # The kernel hides /proc/self from a process that has changed its capabilities.
    call("prctl", _SET_DUMPABLE, ctypes.c_ulong(1), 0, 0, 0)


def _effective() -> int:
    """Return the first 32 capabilities that are in force, as bits."""
    header, data = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0), (ctypes.c_uint32 * 6)()
    call("capget", ctypes.byref(header), ctypes.byref(data))
    return int(data[0])


def refuse_new_privileges() -> None:
    """Let no program that this process starts gain privileges. Landlock and seccomp need it.

    Raises:
        OSError: the kernel is older than 3.5.
    """
    call("prctl", _SET_NO_NEW_PRIVS, ctypes.c_ulong(1), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))
