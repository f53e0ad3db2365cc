"""Filters of system calls: no sockets of any network, where no network namespace can be made, none to the machine
below a virtual one, and no keyrings.

Sources: seccomp(2), ``linux/filter.h``, ``linux/audit.h``. It refuses connections to this machine, too; sockets in the
file system (``AF_UNIX``) and the kernel's own (``AF_NETLINK``) stay.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from collections.abc import Sequence

from tfmemlint.verify.child.sandbox import kernel

_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_X32 = 0x40000000
"""From this number on, calls of x86-64 are those of another interface, whose numbers differ."""
_IO_URING_SETUP = 425
"""It opens sockets without the system call that is filtered."""
_UNIX, _NETLINK, _VSOCK = 1, 16, 40
_SOCKET = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
"""The name of the processor's interface, and the number of ``socket`` there."""

_KEYRINGS = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}
"""The numbers of ``add_key``, ``request_key`` and ``keyctl``: what a login, Kerberos and others keep in the kernel."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def supported() -> bool:
    """True if the filter is known for this processor."""
    return platform.machine() in _SOCKET


def refuse_networks() -> None:
    """Refuse this process, and all that it starts, to open sockets of a network. It can't be undone.

    Raises:
        OSError: the kernel refuses, or the processor is unknown.
    """
    if not supported():
        raise OSError(errno.ENOSYS, "the filter is not known for this processor")
    interface, socket_call = _SOCKET[platform.machine()]
    allow, refuse, absent = 10, 9, 11
    # The places of the last three steps; a jump is counted from the step after it.
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_EQUAL, 0, refuse - 2, interface),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_AT_LEAST, refuse - 4, 0, _X32),
        (_EQUAL, absent - 5, 0, _IO_URING_SETUP),
        (_EQUAL, 0, allow - 6, socket_call),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        (_EQUAL, allow - 8, 0, _UNIX),
        (_EQUAL, allow - 9, 0, _NETLINK),
        (_RETURN, 0, 0, _ERROR | errno.EACCES),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERROR | errno.ENOSYS),
    ]
    _install(steps)


def refuse_machine_below() -> None:
    """Refuse this process, and all that it starts, sockets to what runs this virtual machine. It can't be undone.

    A network namespace does not hold these (``AF_VSOCK``, vsock(7)).

    Raises:
        OSError: the kernel refuses, or the processor is unknown.
    """
    if not supported():
        raise OSError(errno.ENOSYS, "the filter is not known for this processor")
    interface, socket_call = _SOCKET[platform.machine()]
    allow, refuse, absent = 8, 9, 10
    _install(
        [
            (_LOAD, 0, 0, _ARCHITECTURE_AT),
            (_EQUAL, 0, refuse - 2, interface),
            (_LOAD, 0, 0, _NUMBER_AT),
            (_AT_LEAST, refuse - 4, 0, _X32),
            (_EQUAL, absent - 5, 0, _IO_URING_SETUP),
            (_EQUAL, 0, allow - 6, socket_call),
            (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
            (_EQUAL, refuse - 8, 0, _VSOCK),
            (_RETURN, 0, 0, _ALLOW),
            (_RETURN, 0, 0, _ERROR | errno.EACCES),
            (_RETURN, 0, 0, _ERROR | errno.ENOSYS),
        ]
    )


def refuse_keyrings() -> None:
    """Refuse this process, and all that it starts, the keys that the kernel keeps. It can't be undone.

    Raises:
        OSError: the kernel refuses, or the processor is unknown.
    """
    if not supported():
        raise OSError(errno.ENOSYS, "the filter is not known for this processor")
    interface, calls = _SOCKET[platform.machine()][0], _KEYRINGS[platform.machine()]
    refuse, absent = 8, 9
    _install(
        [
            (_LOAD, 0, 0, _ARCHITECTURE_AT),
            (_EQUAL, 0, refuse - 2, interface),
            (_LOAD, 0, 0, _NUMBER_AT),
            (_AT_LEAST, refuse - 4, 0, _X32),
            *((_EQUAL, absent - place - 1, 0, number) for place, number in enumerate(calls, 4)),
            (_RETURN, 0, 0, _ALLOW),
            (_RETURN, 0, 0, _ERROR | errno.EACCES),
            (_RETURN, 0, 0, _ERROR | errno.ENOSYS),
        ]
    )


def _install(steps: Sequence[tuple[int, int, int, int]]) -> None:
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    program = _Program(len(steps), code)
    kernel.refuse_new_privileges()
    kernel.call("prctl", _SET_SECCOMP, ctypes.c_ulong(_MODE_FILTER), ctypes.byref(program), 0, 0)
