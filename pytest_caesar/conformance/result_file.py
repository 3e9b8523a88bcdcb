"""The report of the kit in JSON: one entry for each requirement, always."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from caesar_agent.task_directory import write_atomic
from pytest_caesar.agents.target import AgentTarget, FunctionAgent
from pytest_caesar.conformance.requirements import EVERY, TITLES
from pytest_caesar.conformance.result import Result, completed, verdict
from pytest_caesar.conformance.verdict_lines import badge, how_near
from pytest_caesar.runs.record import run_as_json
from pytest_caesar.runs.run import Run

FORMAT = 1
"""Version of the file that ``--caesar-conformance-report`` writes."""

MAX_LOG, MAX_EVENTS, MAX_TEXT, MAX_ENTRIES = 16 * 1024, 100, 16 * 1024, 200
"""Bytes of a log, number of events, characters of a text and entries of a list that a transcript
holds."""

INTERPRETER = re.compile(
    r"(python|pypy|perl|ruby|node|lua|php|tclsh|Rscript|julia)[\d.]*|(ba|da|z|k|fi)?sh|env|deno|bun|"
    r"java|uv|npx"
)
"""Names of programs that run the program that comes after them."""

MAX_PROGRAM = 64 * 2**20
"""Bytes of an agent's program that are hashed at most."""


def transcript(run: Run) -> Mapping[str, Any]:
    """Return what is left of a run, capped, as JSON types alone."""
    task = run.task.dump()
    value = {
        "task": task,
        "run": run_as_json(run),
        "events": [event.dump() for event in run.events[-MAX_EVENTS:]],
        "log": run.raw_log[-MAX_LOG:].decode("utf-8", "backslashreplace"),
        "log_bytes": len(run.raw_log),
    }
    capped: Mapping[str, Any] = as_capped(value)
    return capped


def as_capped(value: Any) -> Any:
    """Return JSON types alone, bounded; lone surrogates, which no encoder takes, as escapes."""
    if isinstance(value, str):
        text = value[:MAX_TEXT].encode("utf-8", "backslashreplace").decode()
        more = len(value) - MAX_TEXT
        return f"{text}… ({more} more characters)" if more > 0 else text
    if isinstance(value, dict):
        return {as_capped(str(key)): as_capped(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_capped(item) for item in value[:MAX_ENTRIES]]
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def identity(agent: AgentTarget) -> dict[str, Any]:
    """Return who was judged: what it was selected as, and the digest of its program."""
    if isinstance(agent, FunctionAgent):
        return {"id": agent.id, "origin": agent.origin, "target": agent.target, "sha256": None}
    return {
        "id": agent.id,
        "origin": agent.origin,
        "argv": list(agent.argv),
        "sha256": _digest(agent.argv),
    }


def _digest(argv: Sequence[str]) -> str | None:
    """Return the digest of what was written for the agent: its script, not the interpreter of it.

    Of several files (a script and a configuration), that of all their digests, in order.
    """
    files = [path for path in map(Path, argv) if path.is_file()]
    if len(files) > 1 and INTERPRETER.fullmatch(files[0].name):
        del files[0]
    digests = [
        hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.stat().st_size <= MAX_PROGRAM
    ]
    if len(digests) < 2:
        return digests[0] if digests else None
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def entry(result: Result) -> dict[str, Any]:
    """Return one requirement with what became of it."""
    requirement = EVERY[result.id]
    value: dict[str, Any] = {
        "id": result.id,
        "area": requirement.area,
        "level": requirement.level,
        "kind": requirement.kind,
        "capability": requirement.capability,
        "text": requirement.text,
        "clause": requirement.clause,
        "outcome": result.outcome,
        "message": result.message,
        "known": result.known,
        "scenario": result.scenario,
    }
    if result.transcript is not None:
        value["transcript"] = result.transcript
    return value


def as_json(results: Sequence[Result], agents: Sequence[AgentTarget]) -> dict[str, Any]:
    """Return the whole report."""
    judged = []
    contracts = list(dict.fromkeys(EVERY[one.id].contract for one in results)) or ["oacp"]
    for agent, contract in ((agent, contract) for agent in agents for contract in contracts):
        own = completed(results, agent.id, contract)
        found = verdict(own)
        judged.append(
            {
                "contract": found.title,
                "agent": identity(agent),
                "verdict": str(found),
                "reached": list(found.reached),
                "passed": found.passed,
                "counted": found.counted,
                "complete": found.complete,
                "not_decided": list(found.undecided),
                "missing": {level: list(names) for level, names in found.missing.items()},
                "next": how_near(own, found),
                "badge": badge(found),
                "requirements": [entry(result) for result in own],
            }
        )
    return {
        "format": FORMAT,
        "contract": " and ".join(TITLES[name] for name in contracts),
        "kit": importlib.metadata.version("pytest-caesar"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "platform": sys.platform,
        "agents": judged,
    }


def write_report(path: Path, results: Sequence[Result], agents: Sequence[AgentTarget]) -> None:
    """Write the whole report.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(as_json(results, agents), indent=2) + "\n"
    write_atomic(path, text.encode("utf-8", "backslashreplace"), mode=0o644)
