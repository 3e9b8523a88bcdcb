"""Run every example as its README says, and tell how it went."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = {
    "minimal": ["--caesar-agent=./agent.sh", "--caesar-agent=./agent-without-jq.sh"],
    "fixer": ["--caesar-agent=agent:main"],
    "node": ["--caesar-agent=./agent.mjs"],
    "misbehaving": ["--caesar-agent=./agent.py"],
    "va": ["--caesar-agent=agent:main"],
}


KIT = {"minimal": ["--caesar-agent=./agent-without-jq.sh", "--caesar-conformance", "-q"]}
"""Those that are checked against the contract, too."""


def main() -> int:
    """Run them one after the other; exit code 1 when one fails."""
    failed, skipped = [], 0
    for name, options in (*EXAMPLES.items(), *KIT.items()):
        # What the kit skips is what the agent does not claim, and no missing tool.
        told = [] if "--caesar-conformance" in options else ["-rs"]
        print(f"\n$ cd examples/{name} && pytest {' '.join(options)}", flush=True)
        result = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:randomly", *told, *options],
            cwd=HERE / name,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        print(result.stdout, end="", flush=True)
        if result.returncode:
            failed.append(name)
        if told:
            skipped += sum(map(int, re.findall(r"(\d+) skipped", result.stdout)))
    print()
    if skipped:
        print(f"{skipped} tests were skipped, since a tool is missing here; each says which.")
    if failed:
        print(f"Failed: {', '.join(failed)}")
    else:
        print(f"All {len(EXAMPLES)} examples passed.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
