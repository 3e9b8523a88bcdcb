"""Ignores every signal that can be ignored, as does its child; ticks until it is killed."""

# A bare interpreter starts quicker without pathlib.
# ruff: noqa: PTH118, PTH123

import os
import signal
import time

for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"):
    signal.signal(getattr(signal, name), signal.SIG_IGN)
folder = os.environ["CAESAR_TASK_DIR"]
os.fork()
with open(os.path.join(folder, "pids"), "a") as file:
    file.write(f"{os.getpid()}\n")
until = time.monotonic() + 60
while time.monotonic() < until:
    with open(os.path.join(folder, "ticks"), "a") as file:
        file.write("tick\n")
    time.sleep(0.02)
