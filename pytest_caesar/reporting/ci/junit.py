"""Merged shards as JUnit XML, for pipelines that show it."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from caesar_agent.console import one_line, printable
from pytest_caesar.reporting.results.cases import Attempt, Case
from pytest_caesar.reporting.results.fields import as_text


def junit_xml(cases: Sequence[Case], problems: Sequence[str] = ()) -> str:
    """Return one test suite; what is missing of the session is an error of its own.

    Args:
        cases: in any order. The attempts of a case are test cases of their own, but trials
            are one: a trial that fails is no failing test.
        problems: why the session is not whole.
    """
    suite = ET.Element("testsuite", name="pytest-caesar")
    counts = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    time = 0.0
    for case in cases:
        last = case.attempts[-1]
        entry = ET.SubElement(suite, "testcase", _names(case, last))
        seconds = sum(attempt.duration or 0.0 for attempt in case.attempts)
        entry.set("time", f"{seconds:.3f}")
        time += seconds
        properties = ET.Element("properties")
        for run in case.runs:
            value = " ".join(
                [as_text(run.get("task_id")), as_text(run.get("agent"))]
                + [f"{name}={as_text(run.get(name))}" for name in ("source", "status", "process")]
            )
            ET.SubElement(properties, "property", name="caesar.run", value=one_line(value))
        if case.runs:
            entry.append(properties)
        counts["tests"] += 1
        cause = printable(case.cause or case.outcome)
        if case.outcome in ("skipped", "xfailed"):
            counts["skipped"] += 1
            ET.SubElement(entry, "skipped", message=cause)
        elif case.outcome in ("error", "incomplete", "not run", ""):
            counts["errors"] += 1
            ET.SubElement(entry, "error", message=cause or "nothing is known of it")
        elif case.broken:
            counts["failures"] += 1
            failure = ET.SubElement(entry, "failure", message=cause)
            failure.text = printable(last.details, keep="\n\t")
    for problem in problems:
        counts["tests"] += 1
        counts["errors"] += 1
        entry = ET.SubElement(suite, "testcase", classname="pytest-caesar", name="merge")
        ET.SubElement(entry, "error", message=printable(problem))
    for name, count in counts.items():
        suite.set(name, str(count))
    suite.set("time", f"{time:.3f}")
    root = ET.Element("testsuites")
    root.append(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _names(case: Case, last: Attempt) -> dict[str, str]:
    """Return names as pytest writes them; a case with trials without its trial."""
    trials = bool(case.verdict) or last.trial is not None
    nodeid = case.test if trials else last.test
    module, _, name = printable(nodeid).partition("::")
    agent = f"[{printable(case.agent)}]" if trials and case.agent else ""
    parts = [module.removesuffix(".py").replace("/", "."), *name.split("::")[:-1]]
    return {"classname": ".".join(parts), "name": f"{name.rpartition('::')[2] or module}{agent}"}
