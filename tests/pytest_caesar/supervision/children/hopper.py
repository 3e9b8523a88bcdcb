"""Leaves a process that is never the same for long: each one forks the next and ends."""

# A bare interpreter starts quicker without pathlib.
# ruff: noqa: PTH118, PTH123

import os
import time

pids = os.path.join(os.environ["CAESAR_TASK_DIR"], "pids")
if os.fork() == 0:
    os.setsid()
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with open(pids, "w") as file:
            file.write(f"{os.getpid()}\n")
        if os.fork():
            os._exit(0)
        time.sleep(0.002)
