"""Runs inside a sandbox, tries to break each invariant, and prints what it could do.

Started as ``python -I -S -c TEXT``; takes JSON on stdin, prints JSON: an invariant's name and what
was possible, "" where nothing was.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import sys

TYPE_CHECKING = False  # without importing typing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

CLONE_NEWUSER = 0x10000000
MS_REMOUNT_BIND = 0x20 | 0x1000
UNREACHABLE = ("192.0.2.1", "2001:db8::1")
"""Addresses for documentation, which nobody has (RFC 5737, RFC 3849): only a route is looked for."""

libc = ctypes.CDLL(None, use_errno=True)


def writes(paths: list[str]) -> str:
    """Try to write."""
    for path in paths:
        name = os.path.join(path, f".caesar-probe-{os.getpid()}") if os.path.isdir(path) else path
        try:
            # A file is only opened: it may be the user's, or the kernel's.
            fd = os.open(name, os.O_WRONLY | (os.O_CREAT if name != path else 0))
        except OSError:
            continue
        os.close(fd)
        if name != path:
            os.unlink(name)
        return f"{path} could be written"
    return ""


def removes(paths: list[str]) -> str:
    """Try to remove."""
    for path in paths:
        try:
            os.unlink(path)
        except OSError:
            continue
        return f"{path} could be removed"
    return ""


def reads(paths: list[str]) -> str:
    """Try to read."""
    for path in paths:
        try:
            with open(path, "rb") as file:
                if file.read(64):
                    return f"{path} could be read"
        except OSError:
            continue
    return ""


def remounts() -> str:
    """Try to mount."""
    for path in (b"/", b"/usr", b"/proc"):
        if libc.mount(b"none", path, None, MS_REMOUNT_BIND, None) == 0:
            return f"{path.decode()} could be mounted writable"
    if libc.umount2(b"/tmp", 2) == 0:
        return "the temporary folder could be unmounted"
    return ""


def namespaces() -> str:
    """Try to make a user namespace."""
    child = os.fork()
    if child == 0:
        os._exit(7 if libc.unshare(CLONE_NEWUSER) == 0 else 0)
    status = os.waitpid(child, 0)[1]
    return "a user namespace could be made" if os.waitstatus_to_exitcode(status) == 7 else ""


def privileges() -> str:
    """Look for privileges, and try to gain some."""
    with open("/proc/self/status") as file:
        told = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    if told.get("NoNewPrivs") != "1":
        return "a program could gain privileges (no_new_privs is not set)"
    for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb"):
        if int(told[name], 16):
            return f"there are capabilities ({name} {told[name]})"
    try:
        os.setuid(0)
    except OSError:
        return ""
    return "it could become root" if os.getuid() == 0 else ""


def processes(most: int) -> str:
    """Count the processes that are seen."""
    seen = [name for name in os.listdir("/proc") if name.isdigit()]
    return f"{len(seen)} processes are seen" if len(seen) > most else ""


def signals(pids: list[int]) -> str:
    """Try to signal processes outside."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGCONT)
        except OSError:
            continue
        return f"process {pid} could be signalled"
    return ""


def connects(family: int, addresses: list[Any]) -> str:
    """Try to connect."""
    for address in addresses:
        with socket.socket(family, socket.SOCK_STREAM) as end:
            end.settimeout(2)
            try:
                end.connect(tuple(address) if isinstance(address, list) else address)
            except OSError:
                continue
            return f"{address} could be reached"
    return ""


def routes(family: int, hosts: Sequence[str]) -> str:
    """Look for a way to a host; nothing is sent."""
    for host in hosts:
        with socket.socket(family, socket.SOCK_DGRAM) as end:
            try:
                end.connect((host, 53))
            except OSError:
                continue
            return f"there is a route to {host}"
    return ""


def name_servers() -> list[str]:
    """Return the addresses of name servers."""
    try:
        with open("/etc/resolv.conf") as file:
            lines = [line.split() for line in file]
    except OSError:
        return []
    hosts = [words[1] for words in lines if len(words) > 1 and words[0] == "nameserver"]
    # One on the loopback can be "reached" where nothing listens: a connection tells.
    return [host for host in hosts if not host.startswith("127.") and host != "::1"]


def dns() -> str:
    """Try to reach a name server."""
    for host in name_servers():
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        if found := routes(family, [host]):
            return found
    return connects(socket.AF_INET, [["127.0.0.53", 53], ["127.0.0.1", 53]])


def main() -> None:
    """Try all."""
    asked = json.load(sys.stdin)
    ipv4, ipv6 = (socket.AF_INET, socket.AF_INET6)
    tries: dict[str, Callable[[], str]] = {
        "outside": lambda: writes(asked["outside"]),
        "project": lambda: writes(asked["project"]),
        "hooks": lambda: writes(asked["hooks"]),
        "objects": lambda: removes(asked["objects"]) or writes(asked["objects"]),
        "hidden": lambda: reads(asked["hidden"]),
        "remount": remounts,
        "namespaces": namespaces,
        "privileges": privileges,
        "processes": lambda: processes(asked["processes"]),
        "signals": lambda: signals(asked["pids"]),
        "ipv4": lambda: connects(ipv4, asked["ipv4"]) or routes(ipv4, UNREACHABLE[:1]),
        "ipv6": lambda: connects(ipv6, asked["ipv6"]) or routes(ipv6, UNREACHABLE[1:]),
        "dns": dns,
        "abstract-sockets": lambda: connects(socket.AF_UNIX, asked["abstract"]),
    }
    found: dict[str, str] = {}
    for name, attempt in tries.items():
        try:
            found[name] = attempt()
        except OSError as error:
            # A kernel without IPv6, say: what is not there cannot be reached.
            found[name] = "" if name in ("ipv4", "ipv6") else f"it could not be tried: {error}"
    found["works"] = next(
        (f"{path} cannot be written" for path in asked["work"] if not writes([path])), ""
    )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
