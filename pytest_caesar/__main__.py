"""``python -m pytest_caesar`` is ``pytest-caesar``."""

from __future__ import annotations

import sys

from pytest_caesar.cli import main

if __name__ == "__main__":
    sys.exit(main())
