"""Run every example as its README says, and tell how it went."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "build" / "demo"
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
    shutil.rmtree(RESULTS, ignore_errors=True)
    for number, (name, options) in enumerate((*EXAMPLES.items(), *KIT.items())):
        # What the kit skips is what the agent does not claim, and no missing tool.
        told = [] if "--caesar-conformance" in options else ["-rs"]
        print(f"\n$ cd examples/{name} && pytest {' '.join(options)}", flush=True)
        result = subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-p", "no:randomly", *told, *options),
                f"--caesar-json={RESULTS / f'{number}-{name}.json'}",
            ],
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
    page = RESULTS / "caesar.html"
    if merged(page):
        print(f"What became of every run is on a page: {page}")
    if failed:
        print(f"Failed: {', '.join(failed)}")
    else:
        print(f"All {len(EXAMPLES)} examples passed.")
    return 1 if failed else 0


def merged(page: Path) -> bool:
    """Make one page of all sessions; False, with the reason on stderr, where that fails."""
    sessions = sorted(map(str, RESULTS.glob("*-*.json")))
    command = [*sessions, "-o", str(RESULTS / "runs.json"), "--html", str(page)]
    result = subprocess.run(
        [sys.executable, "-m", "pytest_caesar", "merge", *command],
        stdout=subprocess.DEVNULL,
        check=False,
    )
    return result.returncode < 2 and page.is_file()


if __name__ == "__main__":
    sys.exit(main())
