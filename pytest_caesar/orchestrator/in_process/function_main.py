"""Run ``module:function`` as an agent in a process of its own.

``python -m pytest_caesar.orchestrator.in_process.function_main TARGET [IMPORT_ROOT]``
"""

from __future__ import annotations

import sys

import caesar_agent
from pytest_caesar.orchestrator.in_process.loading import load_function


def main() -> None:
    """Load the function and hand it to the SDK's runner."""
    target, import_root = sys.argv[1], sys.argv[2]
    sys.argv[1:] = []
    caesar_agent.run(load_function(target, import_root))


if __name__ == "__main__":
    main()
