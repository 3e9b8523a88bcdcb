"""Refuse a system without what supervision needs, before an import fails and gives no reason."""

import sys

if sys.platform == "win32":
    message = (
        "pytest_caesar.orchestrator needs Linux or macOS: Windows has no process groups, no "
        "signals to end an agent by, and no way to open a file without following links; "
        "under WSL it works"
    )
    raise ImportError(message)
