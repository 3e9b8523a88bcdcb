"""Run ``module:function`` as an agent in a process of its own.

``python -m pytest_caesar.orchestrator.in_process.function_main TARGET [IMPORT_ROOT]``
"""

from __future__ import annotations

import sys

from pytest_caesar.agents.target import FunctionAgent, ProcessAgent

MODULE = "pytest_caesar.orchestrator.in_process.function_main"
"""The name of this module, which is ``__main__`` where it runs."""


def as_process(agent: FunctionAgent) -> ProcessAgent:
    """Run a function in a Python of its own, the one that runs now."""
    return ProcessAgent(
        id=agent.id,
        origin=agent.origin,
        argv=(sys.executable, "-m", MODULE, agent.target, agent.import_root),
    )


def main() -> None:
    """Load the function and hand it to the SDK's runner."""
    import caesar_agent  # noqa: PLC0415 - the harness asks for the command line alone
    from pytest_caesar.orchestrator.in_process.loading import load_function  # noqa: PLC0415 - as above

    target, import_root = sys.argv[1], sys.argv[2]
    sys.argv[1:] = []
    caesar_agent.run(load_function(target, import_root))


if __name__ == "__main__":
    main()
