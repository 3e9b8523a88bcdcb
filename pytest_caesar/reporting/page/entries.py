"""Lists that a run has: what the report notes, diagnostics, questions, gates and processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pytest_caesar.reporting.page.text import first_bytes, last_bytes, line
from pytest_caesar.reporting.results.fields import (
    as_int,
    as_list,
    as_mapping,
    as_mappings,
    as_number,
    as_text,
    as_texts,
)

FINDINGS: Final = 200
"""Entries of one list of a report, and diagnostics, that the page holds of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A question, a finding, a gate or a process: a mark, a title and the rest."""

    title: str
    text: str = ""
    mark: str = ""
    tone: str = ""
    code: str = ""
    """Of a diagnostic: its code, by which the page explains it."""


def process_words(outcome: Mapping[str, Any]) -> str:
    """Say how a process ended."""
    words = [as_text(outcome.get("status")).replace("_", " ") or "never started"]
    if name := as_text(outcome.get("signal")):
        words.append(f"ended by {name}")
    elif (code := as_int(outcome.get("exit_code"))) is not None:
        words.append(f"exit code {code}")
    if outcome.get("killed_after_report") is True:
        words.append("stopped after its report")
    return line(", ".join(words), limit=120)


def notes(report: Mapping[str, Any]) -> tuple[Entry, ...]:
    """Return findings, questions, next steps and artifacts of a report."""
    found = [
        Entry(
            mark=line(as_text(one.get("severity")) or "finding", limit=20),
            title=line(as_text(one.get("title")), limit=400),
            text=first_bytes(
                "\n".join(
                    filter(
                        None, (_place(one.get("file"), one.get("line")), as_text(one.get("detail")))
                    )
                )
            ).text,
        )
        for one in as_mappings(report.get("findings"))[:FINDINGS]
    ]
    for asked in as_list(report.get("questions"))[:FINDINGS]:
        text = asked if isinstance(asked, str) else as_text(as_mapping(asked).get("question"))
        if text:
            found.append(Entry(mark="question", title=line(text, limit=1000)))
    found += [
        Entry(mark="next step", title=line(text, limit=1000))
        for text in as_texts(report.get("next_steps"))[:FINDINGS]
    ]
    found += [
        Entry(
            mark="artifact",
            title=line(
                one if isinstance(one, str) else as_text(as_mapping(one).get("path")), limit=400
            ),
        )
        for one in as_list(report.get("artifacts"))[:FINDINGS]
    ]
    return tuple(found)


def _place(path: object, number: object) -> str:
    name, where = as_text(path), as_int(number)
    return f"{name}:{where}" if name and where is not None else name


def diagnostic(one: Mapping[str, Any]) -> Entry:
    """Return a finding of the harness."""
    code = line(as_text(one.get("code")), limit=80)
    place = _place(one.get("path"), one.get("line"))
    return Entry(
        code=code,
        title=code,
        text=line(as_text(one.get("message")), limit=1000),
        mark=line(place, limit=400) if place else "",
    )


def question(one: Mapping[str, Any]) -> Entry:
    """Return a question with its answer."""
    options = as_texts(one.get("options"))
    answer, state = as_text(one.get("answer")), as_text(one.get("state"))
    parts = [f"options: {', '.join(options)}"] if options else []
    parts.append(f"answer: {answer}" if answer else "no answer")
    return Entry(
        title=line(as_text(one.get("question")), limit=1000),
        text=line("; ".join(parts), limit=1000),
        mark=line(state, limit=40),
        tone="good" if state == "answered" else "bad",
    )


def gate(one: Mapping[str, Any]) -> Entry:
    """Return what a gate said."""
    passed = one.get("passed") is True
    score, threshold = as_number(one.get("score")), as_number(one.get("threshold"))
    words = [as_text(one.get("command"))]
    if (code := as_int(one.get("exit_code"))) is not None:
        words.append(f"exit code {code}")
    if score is not None:
        words.append(f"score {score:g}" + (f" of {threshold:g}" if threshold is not None else ""))
    said = "" if passed else as_text(one.get("output"))
    parts = [line(", ".join(filter(None, words)), limit=400), as_text(one.get("rationale")), said]
    return Entry(
        title=line(as_text(one.get("gate")), limit=200),
        text=last_bytes("\n".join(filter(None, parts))).text,
        mark="passed" if passed else line(as_text(one.get("severity")) or "failed", limit=20),
        tone="good" if passed else "bad",
    )


def processes(run: Mapping[str, Any], outcome: Mapping[str, Any]) -> tuple[Entry, ...]:
    """Return the process of the agent, then those that it left behind."""
    started = next(
        (
            as_text(event.get("text")).removeprefix("started").strip()
            for event in as_mappings(run.get("timeline"))
            if event.get("type") == "started"
        ),
        "",
    )
    if not outcome:
        return ()
    name = started or as_text(run.get("agent"))
    agent = Entry(title=line(name, limit=400), mark=process_words(outcome), tone="")
    left = [
        Entry(
            title=line(as_text(one.get("name")), limit=400),
            text=f"pid {as_int(one.get('pid'))}",
            mark="left behind, stopped",
            tone="bad",
        )
        for one in as_mappings(outcome.get("leaked"))[:FINDINGS]
    ]
    return (agent, *left)
