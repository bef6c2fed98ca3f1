"""No network but loopback: where the system allows, this process moves into a network namespace of its own.

The provider is in this process, so a namespace for the program alone would hide it. The whole process moves, before it
has any thread, and everything that it starts is there with it.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from pathlib import Path

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
"""Of Linux's <sched.h>."""
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1
"""Of Linux's <linux/sockios.h> and <linux/if.h>."""


def is_cut_off() -> bool:
    """Whether this process sees no network interface but loopback."""
    try:
        return {name for _, name in socket.if_nameindex()} == {"lo"}
    except OSError:
        return False


def cut_off() -> str | None:
    """Leave every network but loopback, before the first thread; why that is not possible, None if it is done."""
    threads = Path("/proc/self/task")
    if not threads.is_dir() or len([*threads.iterdir()]) > 1:
        return "this process has several threads, or the system is not Linux"
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        return f"the system refuses a network namespace: {os.strerror(ctypes.get_errno())}"
    try:
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
        _raise_loopback()
    except OSError as error:
        return f"the network namespace has no loopback: {error}"
    return None


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(asking, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(asking, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))
