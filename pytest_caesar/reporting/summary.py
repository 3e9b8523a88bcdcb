"""Results of a session as lines for the terminal; pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from caesar_agent.console import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_caesar.agents.target import AgentTarget

STATUSES = ("success", "partial", "failed", "blocked")
SOURCES = ("channel", "schema", "file", "extracted", "synthesized")


def header_line(agents: Sequence[AgentTarget]) -> str:
    """Name the agents under test, as ``agent.sh (path)``."""
    word = "agent" if len(agents) == 1 else "agents"
    return f"caesar {word}: " + ", ".join(
        f"{one_line(agent.id, limit=60)} ({agent.origin})" for agent in agents
    )


def summary_lines(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Count runs by status and source, and by how their processes ended.

    Args:
        records: as ``records.record`` makes them, n entries.

    Returns:
        No line without runs; one to three lines otherwise.
    """
    if not records:
        return []
    below = [one for record in records for one in record.get("below", ())]
    played = sum("recording" in record for record in records)
    lines = [
        f"{_runs(records)}: {_by_status(records)}"
        + (f"; {played} played back from recordings" if played else "")
        + _used([*records, *below])
    ]
    if below:
        lines.append(f"handed on by agents, {_runs(below)}: {_by_status(below)}")
    ends = Counter(
        record["process"] for record in (*records, *below) if record["process"] != "succeeded"
    )
    if ends:
        lines.append(
            "processes that did not succeed: "
            + ", ".join(f"{ends[end]} {end.replace('_', ' ')}" for end in sorted(ends))
        )
    return lines


def _used(records: Sequence[Mapping[str, Any]]) -> str:
    """Sum tokens and cost, and say of how many runs they are not known; "" where of all."""
    parts = []
    for name in ("tokens", "cost_usd"):
        known = [record for record in records if name in record]
        if known:
            total = sum(record[name] for record in known)
            least = "at least " if any("at_least" in record for record in known) else ""
            shown = f"${total:.2f}" if name == "cost_usd" else f"{_short(total)} tokens"
            parts.append((f"{least}{shown}", len(records) - len(known)))
    told = [
        text + (f" ({missing} {'run' if missing == 1 else 'runs'} unknown)" if missing else "")
        for text, missing in parts
    ]
    if len(parts) == 2 and parts[0][1] == parts[1][1]:
        told[0] = parts[0][0]  # of both as many: said once
    return f" · {', '.join(told)}" if told else ""


def _short(number: int) -> str:
    for unit, word in ((1_000_000, "M"), (1_000, "k")):
        if number >= unit:
            return f"{number / unit:.1f}{word}"
    return str(number)


def _runs(records: Sequence[Mapping[str, Any]]) -> str:
    return f"{len(records)} {'run' if len(records) == 1 else 'runs'}"


def _by_status(records: Sequence[Mapping[str, Any]]) -> str:
    by_status: dict[str, Counter[str]] = {}
    for record in records:
        by_status.setdefault(record["status"], Counter())[record["source"]] += 1
    parts = []
    for status in (*STATUSES, *sorted(set(by_status) - set(STATUSES))):
        sources = by_status.get(status)
        if sources:
            named = ", ".join(
                f"{sources[source]} {source}" for source in sorted(sources, key=_place(SOURCES))
            )
            parts.append(f"{sum(sources.values())} {status} ({named})")
    return ", ".join(parts)


def _place(known: Sequence[str]) -> Any:
    return lambda word: (known.index(word) if word in known else len(known), word)


def nothing_collected(agents: Sequence[str], *, conformance: bool) -> list[str]:
    """Say what to write when an agent is given and there is no test for it.

    Args:
        agents: as they were given.
        conformance: there is a kit to check them with.
    """
    given = " ".join(
        f"--caesar-agent={text}" if " " not in text else f'--caesar-agent="{text}"'
        for text in (one_line(text, limit=120) for text in agents)
    )
    lines = [
        "no test was collected, so nothing was asked of the agent. Write one, as in test_agent.py:",
        "",
        "    def test_it_reports(caesar_orchestrator):",
        '        run = caesar_orchestrator.delegate("Say hello")',
        "        assert run.succeeded",
    ]
    if not conformance:
        return lines
    return [
        *lines,
        "",
        "or check the agent against the contract:",
        "",
        f"    pytest {given} --caesar-conformance",
    ]
