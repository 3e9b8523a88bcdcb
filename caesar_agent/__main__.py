"""``python -m caesar_agent`` is ``caesar-agent``."""

from __future__ import annotations

import sys

from caesar_agent.cli import main

if __name__ == "__main__":
    sys.exit(main())
