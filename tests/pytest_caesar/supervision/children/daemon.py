"""Leaves a daemon: forked twice, in a session of its own, ignoring SIGTERM; then ends.

With the argument ``bare`` the daemon also drops its environment, so that nothing marks it.
"""

# A bare interpreter starts quicker without pathlib.
# ruff: noqa: FBT003, PTH110, PTH118, PTH123

import os
import signal
import sys
import time

pids = os.path.join(os.environ["CAESAR_TASK_DIR"], "pids")
if "--daemon" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with open(sys.argv[-1], "a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(60)
    sys.exit()

read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.set_inheritable(write, False)
        env = {"CAESAR_TASK_DIR": ""} if "bare" in sys.argv else dict(os.environ)
        os.execve(sys.executable, [sys.executable, "-I", "-S", __file__, "--daemon", pids], env)
    os._exit(0)
os.close(write)
# The daemon's exec closes the pipe: it is on its way.
os.read(read, 1)
until = time.monotonic() + 20
while not os.path.exists(pids) and time.monotonic() < until:
    time.sleep(0.005)
