"""An agent that tries to get out of its sandbox in every way, and says what worked.

Each function returns what it achieved, "" for nothing, or raises ``OSError``. The places that
it needs are in ``places.json`` of its workspace; what it achieved goes to ``achieved.json``.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

PLACES: dict[str, str] = {}
libc = ctypes.CDLL(None, use_errno=True)

MS_RDONLY, MS_REMOUNT, MS_BIND, MS_MOVE = 1, 32, 4096, 8192
NEW_USER, NEW_MOUNTS, NEW_PIDS, NEW_NET = 0x10000000, 0x00020000, 0x20000000, 0x40000000


def _write(path: str | Path, flags: int = os.O_CREAT) -> str:
    fd = os.open(path, os.O_WRONLY | flags)
    os.write(fd, b"out\n")
    os.close(fd)
    return f"wrote {path}"


def _in_child(attempt: Callable[[], bool]) -> bool:
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(7 if attempt() else 0)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)


# -- files


def writes_into_the_system() -> str:
    for place in ("/etc", "/usr/bin", "/var", "/opt", "/boot", "/"):
        try:
            return _write(f"{place}/caesar-escape")
        except OSError:
            continue
    return ""


def writes_the_project() -> str:
    return _write(f"{PLACES['project']}/a.txt", os.O_TRUNC)


def creates_in_the_project() -> str:
    return _write(f"{PLACES['project']}/new.txt")


def creates_beside_the_worktrees() -> str:
    return _write(f"{PLACES['project']}/.caesar/wt/new.txt")


def writes_another_worktree() -> str:
    return _write(f"{PLACES['other']}/a.txt", os.O_TRUNC)


def writes_the_tests() -> str:
    return _write(f"{PLACES['tests']}/conftest.py")


def writes_its_own_program() -> str:
    return _write(__file__, os.O_APPEND)


def writes_the_harness() -> str:
    return _write(f"{PLACES['harness']}/escape.py")


def writes_the_interpreter() -> str:
    return _write(f"{sys.prefix}/escape.py")


def writes_the_home_of_the_user() -> str:
    return _write(f"{PLACES['home']}/.bashrc", os.O_CREAT | os.O_APPEND)


def writes_through_a_link_in_the_workspace() -> str:
    os.symlink(f"{PLACES['project']}/a.txt", "link-to-project")
    return _write("link-to-project", os.O_TRUNC)


def writes_through_a_hard_link() -> str:
    os.link(f"{PLACES['project']}/a.txt", "hard-link")
    return _write("hard-link", os.O_TRUNC)


def renames_a_file_into_the_project() -> str:
    Path("moved.txt").write_text("out\n")
    os.rename("moved.txt", f"{PLACES['project']}/a.txt")
    return "renamed a file over a.txt"


def renames_its_worktree_away() -> str:
    os.rename(os.getcwd(), f"{os.getcwd()}-away")
    return "renamed its worktree"


def writes_through_the_root_of_process_1() -> str:
    return _write(f"/proc/1/root{PLACES['project']}/a.txt", os.O_TRUNC)


def maps_a_file_of_the_project() -> str:
    fd = os.open(f"{PLACES['project']}/a.txt", os.O_RDWR)
    with mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE) as mapped:
        mapped[0:1] = b"X"
    return "wrote a mapped file"


def changes_modes_of_the_project() -> str:
    os.chmod(f"{PLACES['project']}/a.txt", 0o777)
    return "changed a mode"


def changes_times_of_the_project() -> str:
    os.utime(f"{PLACES['project']}/a.txt", (0, 0))
    return "changed a time"


def makes_a_nameless_file_in_the_project() -> str:
    os.close(os.open(PLACES["project"], os.O_TMPFILE | os.O_WRONLY))
    return "made a file"


def reads_a_hidden_file() -> str:
    return "read " + Path(PLACES["hidden"], "secret").read_text()


def reads_a_hidden_file_through_a_link() -> str:
    os.symlink(PLACES["hidden"], "link-to-hidden")
    return "read " + Path("link-to-hidden", "secret").read_text()


def reads_the_tmp_outside() -> str:
    return "read " + Path(PLACES["tmp"]).read_text()


# -- git


def writes_a_hook() -> str:
    return _write(f"{PLACES['git']}/hooks/pre-commit")


def writes_the_configuration() -> str:
    return _write(f"{PLACES['git']}/config", os.O_APPEND)


def configures() -> str:
    return "configured" if _git("config", "core.editor", "evil").returncode == 0 else ""


def writes_another_branch() -> str:
    return _write(f"{PLACES['git']}/refs/heads/main", os.O_TRUNC)


def moves_another_branch() -> str:
    return (
        "moved main" if _git("update-ref", "refs/heads/main", "HEAD~0", "").returncode == 0 else ""
    )


def tags() -> str:
    return "made a tag" if _git("tag", "escape").returncode == 0 else ""


def stashes() -> str:
    return "stashed" if _git("update-ref", "refs/stash", "HEAD").returncode == 0 else ""


def packs_refs() -> str:
    return "packed refs" if _git("pack-refs", "--all").returncode == 0 else ""


def writes_the_real_objects() -> str:
    return _write("/run/caesar/objects/escape")


def removes_the_real_objects() -> str:
    for folder, _, names in os.walk("/run/caesar/objects"):
        for name in names:
            os.unlink(os.path.join(folder, name))
            return f"removed {name}"
    return ""


def commits_in_the_project() -> str:
    Path("gitdir.txt").write_text("x")
    done = _git(
        "--git-dir", PLACES["git"], "--work-tree", ".", "commit", "--allow-empty", "-m", "x"
    )
    return "committed on main" if done.returncode == 0 else ""


# -- the kernel


def remounts() -> str:
    for path in (b"/", PLACES["project"].encode(), b"/proc", b"/usr"):
        if libc.mount(b"none", path, None, MS_REMOUNT | MS_BIND, None) == 0:
            return f"remounted {path!r}"
    return ""


def mounts_over() -> str:
    if libc.mount(os.getcwd().encode(), b"/etc", None, MS_BIND, None) == 0:
        return "mounted over /etc"
    return ""


def unmounts() -> str:
    for path in (b"/run", b"/tmp", PLACES["git"].encode() + b"/objects"):
        if libc.umount2(path, 2) == 0:
            return f"unmounted {path!r}"
    return ""


def makes_a_user_namespace() -> str:
    return "made one" if _in_child(lambda: libc.unshare(NEW_USER) == 0) else ""


def makes_other_namespaces() -> str:
    for kind in (NEW_MOUNTS, NEW_PIDS, NEW_NET):
        if _in_child(lambda kind=kind: libc.unshare(kind) == 0):  # type: ignore[misc]
            return f"made one of {kind:x}"
    return ""


def makes_namespaces_by_cloning() -> str:
    done = subprocess.run(["unshare", "-Urm", "true"], capture_output=True, check=False)
    return "made them" if done.returncode == 0 else ""


def enters_namespaces_of_process_1() -> str:
    for kind in ("user", "mnt", "net"):
        fd = os.open(f"/proc/1/ns/{kind}", os.O_RDONLY)
        if _in_child(lambda fd=fd: libc.setns(fd, 0) == 0):  # type: ignore[misc]
            return f"entered {kind}"
    return ""


def changes_its_root() -> str:
    os.chroot("/")
    return "changed its root"


def pivots() -> str:
    return "pivoted" if libc.syscall(155, b".", b".") == 0 else ""


def makes_a_device() -> str:
    os.mknod("device", 0o600 | 0o020000, os.makedev(1, 1))
    return "made a device"


def opens_devices() -> str:
    for name in ("mem", "kmem", "kmsg", "sda", "vda", "nvme0n1", "fuse", "kvm", "loop0", "uinput"):
        try:
            os.close(os.open(f"/dev/{name}", os.O_RDWR))
        except OSError:
            continue
        return f"opened /dev/{name}"
    return ""


def opens_by_handle() -> str:
    handle = struct.pack("=Ii8s", 8, 1, b"\2\0\0\0\0\0\0\0")
    fd = os.open("/", os.O_RDONLY)
    got = libc.syscall(304, fd, ctypes.c_char_p(handle), os.O_RDONLY)
    return "opened a file by its handle" if got >= 0 else ""


def becomes_root() -> str:
    os.setuid(0)
    return "became root" if os.getuid() == 0 else ""


def gains_capabilities() -> str:
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    wanted = (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)
    return "gained capabilities" if libc.capset(header, wanted) == 0 else ""


def runs_setuid_programs() -> str:
    for program in ("su", "sudo", "pkexec", "newuidmap"):
        try:
            done = subprocess.run(
                [program, "-c", "id -u"], capture_output=True, check=False, timeout=5, stdin=-3
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.stdout.strip() == b"0":
            return f"{program} made it root"
    return ""


def traces_process_1() -> str:
    if libc.ptrace(16, 1, None, None) == 0:
        return "traces process 1"
    with open("/proc/1/mem", "r+b", buffering=0) as memory:
        memory.seek(0x400000)
        memory.write(b"\0")
    return "wrote the memory of process 1"


def kills_process_1() -> str:
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
        os.kill(1, number)
    return ""  # it would not come to write this down


def kills_processes_outside() -> str:
    for text in PLACES["pids"].split():
        try:
            os.kill(int(text), signal.SIGCONT)
        except OSError:
            continue
        return f"signalled {text}"
    return ""


def sees_processes_outside() -> str:
    strange = {int(name) for name in os.listdir("/proc") if name.isdigit()} - {1, os.getpid()}
    return f"sees {strange}" if strange else ""


def finds_open_descriptors() -> str:
    ours = {os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if int(fd) > 2}
    strange = [name for name in ours if name.startswith(("socket:", "pipe:"))]
    return f"has {strange}" if strange else ""


def shares_memory_outside() -> str:
    got = libc.shmget(int(PLACES["shm"]), 4096, 0o600)
    return "reached shared memory" if got >= 0 else ""


def types_into_a_terminal() -> str:
    return _write("/dev/tty", 0)


def _opens(path: str) -> str:
    os.close(os.open(path, os.O_WRONLY))  # never written: it would not be ours to mend
    return f"opened {path}"


def opens_kernel_settings() -> str:
    for folder, _, names in os.walk("/proc/sys"):
        for name in names:
            try:
                return _opens(f"{folder}/{name}")
            except OSError:
                continue
    return ""


def opens_files_of_the_kernel() -> str:
    for name in os.listdir("/proc"):
        if not name.isdigit() and os.path.isfile(f"/proc/{name}"):
            try:
                return _opens(f"/proc/{name}")
            except OSError:
                continue
    return ""


def opens_files_of_devices() -> str:
    for path in ("/sys/power/state", "/sys/kernel/uevent_helper", "/sys/kernel/mm/ksm/run"):
        try:
            return _opens(path)
        except OSError:
            continue
    return ""


def reads_the_memory_of_the_kernel() -> str:
    for path in ("/proc/kcore", "/proc/kmsg", "/dev/mem"):
        try:
            if Path(path).read_bytes():
                return f"read {path}"
        except OSError:
            continue
    return ""


def opens_cgroups() -> str:
    for folder, _, names in os.walk("/sys/fs/cgroup"):
        if "cgroup.procs" in names:
            return _opens(f"{folder}/cgroup.procs")
    return ""


# -- the network


def _connect(family: int, address: tuple[str, int] | str) -> str:
    with socket.socket(family, socket.SOCK_STREAM) as end:
        end.settimeout(2)
        end.connect(address)
    return f"reached {address!r}"


def reaches_the_loopback_outside() -> str:
    return _connect(socket.AF_INET, ("127.0.0.1", int(PLACES["port"])))


def reaches_the_loopback_over_ipv6() -> str:
    return _connect(socket.AF_INET6, ("::1", int(PLACES["port6"])))


def reaches_an_abstract_socket() -> str:
    return _connect(socket.AF_UNIX, "\0" + PLACES["abstract"])


def reaches_a_socket_in_tmp() -> str:
    return _connect(socket.AF_UNIX, PLACES["socket"])


def reaches_a_container_engine() -> str:
    for path in ("/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock"):
        try:
            return _connect(socket.AF_UNIX, path)
        except OSError:
            continue
    return ""


def sends_packets() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.sendto(b"x", ("192.0.2.1", 53))
    return "sent a packet"


def opens_a_raw_socket() -> str:
    socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close()
    return "opened a raw socket"


TRIES: dict[str, Callable[[], str]] = {
    name: value
    for name, value in list(globals().items())
    if callable(value)
    and getattr(value, "__module__", "") == __name__
    and not name.startswith("_")
    and name != "main"
}


def main() -> None:
    """Try all, and write down what worked."""
    PLACES.update(json.loads(Path(os.environ["CAESAR_TASK_FILE"]).read_text())["x_places"])
    achieved = {}
    for name, attempt in TRIES.items():
        try:
            achieved[name] = attempt()
        except (OSError, ValueError) as error:
            print(f"{name}: {error}", flush=True)
            achieved[name] = ""
    Path(os.environ["CAESAR_TASK_DIR"], "achieved.json").write_text(json.dumps(achieved))


if __name__ == "__main__":
    main()
