"""Forks as long as it may, in sessions of their own; there are never more than some forty."""

import os
import signal
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
generation = 0
until = time.monotonic() + 30
while time.monotonic() < until:
    if generation < 5 and os.fork() == 0:
        generation += 1
        os.setsid()
    else:
        time.sleep(0.01)
        generation += 1 if generation < 5 else 0
