"""The fake orchestrator: it delegates tasks to agents and tells what came of them."""

import sys

if sys.platform == "win32":
    # Before anything below fails for want of fcntl, and says nothing about the reason.
    message = (
        "pytest_caesar.orchestrator needs Linux or macOS: Windows has no process groups, no "
        "signals to end an agent by, and no way to open a file without following links; "
        "under WSL it works"
    )
    raise ImportError(message)
