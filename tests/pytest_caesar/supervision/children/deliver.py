"""Delivers, then hangs; with ``again`` it delivers anew a few times before it hangs."""

# A bare interpreter starts quicker without pathlib.
# ruff: noqa: PTH105, PTH118, PTH123

import os
import sys
import time

report = os.path.join(os.environ["CAESAR_TASK_DIR"], "report.json")
for number in range(4 if "again" in sys.argv else 1):
    with open(report + ".tmp", "w") as file:
        file.write(str(number))
    os.replace(report + ".tmp", report)
    time.sleep(0.15 if "again" in sys.argv else 0)
time.sleep(60)
