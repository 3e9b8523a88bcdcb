"""An agent with a child that ignores signals and a daemon, all of which note their ids."""

# A bare interpreter starts quicker without pathlib.
# ruff: noqa: PTH100, PTH118, PTH120, PTH123

import os
import signal
import subprocess
import sys
import time

folder = os.environ["CAESAR_TASK_DIR"]
here = os.path.dirname(os.path.abspath(__file__))


def note() -> None:
    with open(os.path.join(folder, "pids"), "a") as file:
        file.write(f"{os.getpid()}\n")


if __name__ == "__main__":
    subprocess.Popen([sys.executable, "-I", "-S", os.path.join(here, "daemon.py"), "marked"])
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    note()
    time.sleep(60)
