#!/usr/bin/env python3
"""An agent that repairs a failing test: it finds suspect lines and tries small edits.

No model and no network: the tests say where to look (the lines that failing tests run
and passing ones do not) and what is right (the first edit after which a failing test
passes and no other fails).
"""

import contextlib
import difflib
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import caesar_agent

sys.path.insert(0, str(Path(__file__).parent))

from repairs import Repair, repairs

PROBE = Path(__file__).with_name("probe.py")
MAX_SUSPECTS = 30
"""Lines that are tried; beyond them a repair is a matter of luck."""

EDITS_AT_ONCE = 6
"""Edits of one line before it is the next one's turn: the likely ones come first."""

RESERVE = 5.0
"""Seconds of the deadline that are kept for restoring files and writing the report."""


@dataclass(frozen=True)
class Suspect:
    """A line that may hold the defect."""

    file: str
    line: int
    score: float
    error: str


class Suite:
    """The tests of a workspace, run in processes of their own."""

    def __init__(self, agent: caesar_agent.Agent, scratch: Path):
        self.agent = agent
        self.results = scratch / "results.json"
        # What Python caches would appear as a change.
        self.env = {"PYTHONDONTWRITEBYTECODE": "1"}
        # "Make tests/test_parser.py pass" means these tests alone; else all of them count.
        words = [word.strip("\"'`.,;:") for word in agent.task.objective.split()]
        self.scope = [word for word in words if (agent.workspace / word).is_file()]
        self.duration = 0.0

    def run(self) -> dict:
        """Run all tests, on the record."""
        self.results.unlink(missing_ok=True)
        result = self.agent.command(
            [sys.executable, PROBE, self.results, *self.scope],
            env=self.env,
            timeout=self.agent.remaining + 1,
        )
        self.duration = result.duration
        return self._read()

    def try_again(self, names=(), *, limit: float) -> dict:
        """Run some tests, or all, off the record: there may be hundreds of attempts.

        What takes longer than ``limit`` seconds gives nothing: an edit may make a test run
        for ever.
        """
        return self._quietly(limit, *(sorted(names) or self.scope))

    def explain(self, names) -> dict:
        """Run the files that hold these tests again, and note which lines ran."""
        files = {name.partition("::")[0] for name in names}
        return self._quietly(self.agent.remaining, "--lines", *sorted(files))

    def _quietly(self, limit: float, *words) -> dict:
        self.results.unlink(missing_ok=True)
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(
                [sys.executable, PROBE, self.results, *words],
                cwd=self.agent.workspace,
                env={**os.environ, **self.env},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=max(0.0, min(limit, self.agent.remaining - RESERVE)),
                check=False,
            )
        return self._read()

    def _read(self) -> dict:
        try:
            return json.loads(self.results.read_bytes())
        except FileNotFoundError:
            return {}


def failing(tests: dict) -> set:
    return {name for name, test in tests.items() if not test["passed"]}


def suspects(tests: dict) -> list[Suspect]:
    """Rank the lines of the project by how well they explain what fails.

    The measure is Ochiai's: run by failing tests, and little by others. The lines that an
    error passed through come first, the innermost foremost.
    """
    broken = [tests[name] for name in sorted(failing(tests))]
    ran: dict = {}
    for test in tests.values():
        for place in map(tuple, test["lines"]):
            bad, good = ran.get(place, (0, 0))
            ran[place] = (bad + (not test["passed"]), good + test["passed"])
    scores = {
        place: bad / math.sqrt(len(broken) * (bad + good))
        for place, (bad, good) in ran.items()
        if bad
    }
    errors: dict = {}
    for test in broken:
        for depth, place in enumerate(map(tuple, reversed(test["frames"]))):
            scores[place] = max(scores.get(place, 0), 2 - depth / 100)
            errors.setdefault(place, test["error"])
    ranked = sorted(scores, key=lambda place: (-scores[place], place))
    return [
        Suspect(file, line, scores[file, line], errors.get((file, line), ""))
        for file, line in ranked[:MAX_SUSPECTS]
    ]


def candidates(agent, places: list[Suspect]) -> Iterator[tuple[Suspect, Path, bytes, Repair]]:
    """Return the edits to try: a few for each place, then a few more, and so on."""
    waiting = []
    for suspect in places:
        file = agent.workspace / suspect.file
        source = file.read_bytes()
        waiting.append((suspect, file, source, repairs(source, suspect.line, suspect.error)))
    while waiting:
        for entry in tuple(waiting):
            suspect, file, source, edits = entry
            some = list(itertools.islice(edits, EDITS_AT_ONCE))
            if not some:
                waiting.remove(entry)
            else:
                agent.progress(f"trying {suspect.file}:{suspect.line}")
            for repair in some:
                yield suspect, file, source, repair


def find_repair(agent, suite: Suite, tests: dict) -> tuple[Suspect, Repair, dict] | None:
    """Try edits until a failing test passes and no other fails; leave that edit in place."""
    before = failing(tests)
    places = suspects(suite.explain(before))
    begun = agent.remaining
    suite.try_again(before, limit=begun)
    limit = 1 + 5 * (begun - agent.remaining)
    attempts = 0
    for suspect, file, source, repair in candidates(agent, places):
        if agent.remaining < RESERVE + suite.duration:
            break
        attempts += 1
        kept = False
        try:
            file.write_bytes(repair.source)
            # The failing tests first: most edits are no good, and this is quicker.
            first = suite.try_again(before, limit=limit)
            if first.keys() == before and failing(first) < before:
                after = suite.try_again(limit=1 + 5 * suite.duration)
                if after.keys() == tests.keys() and failing(after) < before:
                    kept = True
                    agent.message(f"edit {attempts} helps: {repair.what}")
                    return suspect, repair, after
        finally:
            if not kept:
                file.write_bytes(source)
    agent.message(f"none of {attempts} edits helps")
    return None


def main(agent: caesar_agent.Agent) -> caesar_agent.Report:
    with tempfile.TemporaryDirectory() as scratch:
        return fix(agent, Suite(agent, Path(scratch)))


def fix(agent: caesar_agent.Agent, suite: Suite) -> caesar_agent.Report:
    tests = suite.run()
    if not tests:
        return agent.failed("There is no test that could be run.")
    broken = failing(tests)
    if not broken:
        return agent.success(f"All {len(tests)} tests pass; there is nothing to fix.")
    agent.progress(f"{len(broken)} of {len(tests)} tests fail")
    if agent.task.mode == "read-only":
        return diagnose(agent, suite.explain(broken))

    while failing(tests):
        found = find_repair(agent, suite, tests)
        if found is None:
            break
        suspect, repair, tests = found
        record(agent, suspect, repair)

    if failing(tests) != broken and agent.remaining > RESERVE + 2 * suite.duration:
        # Once more on the record, so that the report rests on it.
        tests = suite.run()
    left = sorted(failing(tests))
    agent.output("fixed", sorted(broken - set(left)))
    if not left:
        return agent.success(f"{_count(len(broken))} fixed, all {len(tests)} tests pass.")
    for name in left:
        agent.next_step(f"Repair {name} by hand")
    if len(left) == len(broken):
        diagnose(agent, suite.explain(broken))
        return agent.failed(f"{_count(len(left))} failed before and still: no small edit helps.")
    return agent.partial(f"{_count(len(broken) - len(left))} fixed, {len(left)} still failing.")


def diagnose(agent: caesar_agent.Agent, tests: dict) -> caesar_agent.Report:
    """Say where to look."""
    for name in sorted(failing(tests)):
        test = tests[name]
        agent.finding("high", f"{name} fails", detail=f"{test['error']}: {test['message']}")
    for suspect in suspects(tests)[:3]:
        agent.finding(
            "medium",
            "Suspect line",
            file=suspect.file,
            line=suspect.line,
            detail=f"suspicion {suspect.score:.2f}",
        )
    return agent.partial(
        f"{_count(len(failing(tests)))} failing; the suspect lines are in the findings.",
        next_steps=["Repair it: the task was read-only"],
    )


def record(agent: caesar_agent.Agent, suspect: Suspect, repair: Repair) -> None:
    """Declare a repair, with its diff."""
    original = subprocess.run(
        ["git", "show", f"HEAD:./{suspect.file}"],
        cwd=agent.workspace,
        capture_output=True,
        check=False,
    ).stdout
    diff = difflib.unified_diff(
        original.decode(errors="replace").splitlines(),
        repair.source.decode(errors="replace").splitlines(),
        f"a/{suspect.file}",
        f"b/{suspect.file}",
        lineterm="",
        n=1,
    )
    agent.file_changed(suspect.file, "modified", summary=repair.what)
    agent.finding(
        "high",
        f"Defect: {repair.what}",
        file=suspect.file,
        line=suspect.line,
        detail="\n".join(diff),
    )


def _count(number: int) -> str:
    return f"{number} test" if number == 1 else f"{number} tests"


if __name__ == "__main__":
    caesar_agent.run(main)
