"""One delegation as the page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pytest_caesar.reporting.page.changes import Pairs, Usage, commands, files, usage
from pytest_caesar.reporting.page.diff import Diff, diff_view
from pytest_caesar.reporting.page.entries import (
    FINDINGS,
    Entry,
    diagnostic,
    gate,
    notes,
    process_words,
    processes,
    question,
)
from pytest_caesar.reporting.page.text import Passage, first_bytes, last_bytes, line, seconds
from pytest_caesar.reporting.page.timeline import Timeline, timeline
from pytest_caesar.reporting.results.fields import (
    as_int,
    as_mapping,
    as_mappings,
    as_number,
    as_text,
    as_texts,
)

DEPTH: Final = 8
"""Levels of nested delegations that the page shows."""

SOURCES: Final = {
    "channel": "handed in over the return channel",
    "schema": "the structured final message of the CLI",
    "file": "the report file",
    "extracted": "found in the log",
    "synthesized": "made by the harness: the agent left no report that can be read",
}
"""What a source means."""

_LOST: Final = ("report", "submission", "final-message", "log-", "stream-", "reports-")
"""How the codes of findings begin that tell of a better source that was lost."""

_NO_LOSS: Final = frozenset({"report-supersedes"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """One delegation.

    Attributes:
        task_id, agent, status, source, source_means, process: in words.
        good: the process and the report succeeded.
        facts: pairs of a name and a value.
        objective: what was asked for.
        brief: the text that was given to the agent, without what all briefs say alike.
        instructions: the rest of the brief, in words that do not name the task.
        summary, details: of the report.
        lost: findings about better sources.
        notes: findings, questions and next steps of the report.
        files, commands, usage: declared beside observed.
        diff, timeline: what changed, and when.
        questions: what was asked over the return channel.
        gates: what gates said.
        processes: the agent's process and what it left behind.
        diagnostics: findings of the harness.
        log, stderr: the ends of the logs.
        children: delegations that it asked for.
        where: task directory and workspace.
        error: why there was no run, or "".
    """

    task_id: str
    agent: str
    status: str
    source: str
    source_means: str
    process: str
    good: bool
    facts: tuple[tuple[str, str], ...]
    objective: str
    brief: str
    instructions: str
    summary: str
    details: Passage
    lost: tuple[Entry, ...]
    notes: tuple[Entry, ...]
    files: Pairs
    commands: Pairs
    usage: Usage
    diff: Diff
    timeline: Timeline
    questions: tuple[Entry, ...]
    gates: tuple[Entry, ...]
    processes: tuple[Entry, ...]
    diagnostics: tuple[Entry, ...]
    log: Passage
    stderr: Passage
    children: tuple[RunView, ...]
    where: tuple[tuple[str, str], ...]
    error: str

    @property
    def word(self) -> str:
        """The status, with what became of the process where the two do not fit."""
        if self.good or self.status != "success":
            return self.status
        return f"{self.status}, process {self.process.partition(',')[0]}"


def run_view(run: Mapping[str, Any], *, depth: int = 0) -> RunView:
    """Return what the page shows of one delegation.

    Args:
        run: as ``--caesar-json`` writes it.
        depth: how many delegations are above it.
    """
    report = as_mapping(run.get("report"))
    outcome = as_mapping(run.get("outcome"))
    task_dir = as_text(run.get("task_dir"))
    patch_file = f"{task_dir}/changes.patch" if task_dir else ""
    status = as_text(run.get("status")) or as_text(report.get("status"))
    found = as_mappings(run.get("diagnostics"))
    children = as_mappings(run.get("children")) if depth < DEPTH else []
    brief, instructions = _brief(run)
    diff = diff_view(
        as_text(run.get("patch")), total=as_int(run.get("patch_bytes")), where=patch_file
    )
    return RunView(
        task_id=line(as_text(run.get("task_id")), limit=80),
        agent=line(as_text(run.get("agent")), limit=80),
        status=line(status or "no report", limit=40),
        source=line(as_text(run.get("source")), limit=40),
        source_means=SOURCES.get(as_text(run.get("source")), ""),
        process=process_words(outcome),
        good=outcome.get("status") == "succeeded" and status == "success",
        facts=_facts(run, outcome),
        objective=first_bytes(as_text(run.get("objective"))).text,
        brief=brief,
        instructions=instructions,
        summary=line(as_text(report.get("summary")), limit=2000),
        details=first_bytes(as_text(report.get("details")), where=f"{task_dir}/report.json"),
        lost=tuple(
            diagnostic(one)
            for one in found
            if as_text(one.get("code")).startswith(_LOST)
            and as_text(one.get("code")) not in _NO_LOSS
        )[:FINDINGS],
        notes=notes(report),
        files=files(run),
        commands=commands(run),
        usage=usage(run),
        diff=diff,
        timeline=timeline(run),
        questions=tuple(map(question, as_mappings(run.get("questions"))))[:FINDINGS],
        gates=tuple(map(gate, as_mappings(run.get("gates"))))[:FINDINGS],
        processes=processes(run, outcome),
        diagnostics=tuple(map(diagnostic, found[:FINDINGS])),
        log=last_bytes(
            as_text(run.get("log_end")),
            total=as_int(run.get("log_bytes")),
            where=f"{task_dir}/raw.log" if task_dir else "",
        ),
        stderr=last_bytes(
            as_text(run.get("stderr_end")),
            total=as_int(run.get("stderr_bytes")),
            where=f"{task_dir}/stderr.log" if task_dir else "",
        ),
        children=tuple(run_view(child, depth=depth + 1) for child in children[:FINDINGS]),
        where=tuple(
            (name, line(path, limit=4096))
            for name, path in (
                ("task directory", task_dir),
                ("workspace", as_text(run.get("workspace"))),
                ("recording", as_text(run.get("recording"))),
            )
            if path
        ),
        error=line(as_text(as_mapping(run.get("error")).get("message")), limit=2000),
    )


def _facts(run: Mapping[str, Any], outcome: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    duration, deadline = as_number(outcome.get("duration_ms")), as_number(run.get("deadline_ms"))
    took = seconds(None if duration is None else duration / 1000)
    if took and deadline:
        took += f" of {seconds(deadline / 1000)}"
    facts = (
        ("mode", as_text(run.get("mode"))),
        ("isolation", as_text(run.get("isolation"))),
        ("model", as_text(run.get("model"))),
        ("role", as_text(run.get("role"))),
        ("sandbox", _sandbox(run.get("sandbox"))),
        ("took", took),
        ("changes verified by", as_text(run.get("changes_verified_by"))),
        ("played back", "from a recording" if run.get("recording") else ""),
    )
    return tuple((name, line(value, limit=200)) for name, value in facts if value)


def _sandbox(value: object) -> str:
    if isinstance(value, str):
        return value
    known = as_mapping(value)
    held = as_texts(known.get("held"))
    return " ".join([as_text(known.get("name")), f"({', '.join(held)})" if held else ""]).strip()


def _brief(run: Mapping[str, Any]) -> tuple[str, str]:
    """Part a brief in what is of this task, and how to report: that reads alike in each."""
    text = as_text(run.get("brief"))
    own, heading, rest = text.partition("\n## Reporting\n")
    if not heading:
        return first_bytes(text).text, ""
    names = (
        (as_text(run.get("task_dir")), "<task directory>"),
        (as_text(run.get("workspace")), "<workspace>"),
        (as_text(run.get("task_id")), "<task>"),
    )
    for found, name in names:
        if found:
            rest = rest.replace(found, name)
    return first_bytes(own.strip()).text, first_bytes(rest.strip()).text
