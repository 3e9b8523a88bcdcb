"""From all that is left of a delegation to one report: channel, schema, file, log, synthesis.

Pure: bytes and facts in, a verdict out. It never raises on any bytes, and takes time
linear in the size of the log.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from caesar_agent.console import one_line
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.errors import CaesarError
from pytest_caesar.recovery.decoding import Reading, canonical, read_report
from pytest_caesar.recovery.echo import Echo, echo_of
from pytest_caesar.recovery.evidence import Evidence, Form, Recovered, Source
from pytest_caesar.recovery.extraction import Extraction, extract
from pytest_caesar.recovery.others_words import others_report
from pytest_caesar.recovery.passages import Script, read_log
from pytest_caesar.recovery.synthesis import is_synthesized, synthesize

MAX_LOG_BYTES = 64 * 1024 * 1024
"""Bytes of ``raw.log`` that recovery reads, the last ones; what comes before is told, not read."""


_NOT_OWN_WORDS = Diagnostic(
    code="report-not-own-words",
    message="a report stands in the log outside of the agent's own messages (a prompt, what went "
    "into or came out of a tool, a nested agent); it does not count",
    path="raw.log",
)

_INVALID: dict[Source, str] = {
    Source.CHANNEL: "submission-invalid",
    Source.SCHEMA: "final-message-invalid",
    Source.FILE: "report-file-invalid",
}

_FLAGS = {
    "byte-order-mark": "{name} begins with a byte order mark, which was skipped",
    "unusual-encoding": "{name} is not written in UTF-8; it was read as what it says it is",
}


class SourceError(CaesarError, ValueError):
    """A source that cannot be taken away.

    Attributes:
        source: what was named.
        problem: what is wrong with it.
    """

    __module__ = "pytest_caesar"

    source: str
    problem: str

    def message(self) -> str:  # noqa: D102 - what it does is said by the base class
        return f"cannot recover without {self.source!r:.80}{self.problem}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """What one source holds: a reading, or None when there is nothing."""

    source: Source
    reading: Reading | None
    name: str
    form: Form | None = None
    offsets: tuple[int, int] | None = None


def recover(evidence: Evidence) -> Recovered:
    """Find the best report that the evidence holds, and say what was wrong with the better ones.

    Returns:
        The first of channel, schema, file and extraction that holds a valid report of
        this task. Where a better or newer one is there and cannot be read, a lower one
        counts only when it does not say ``success``. Else a synthesized report.
    """
    diagnostics: list[Diagnostic] = []
    if evidence.raw_log_offset:
        diagnostics.append(
            Diagnostic(
                code="log-truncated",
                message=f"only the last {len(evidence.raw_log)} bytes of the log were read; "
                f"{evidence.raw_log_offset} before them were not",
                path="raw.log",
            )
        )
    echo = echo_of(evidence.brief, task_id=evidence.task_id)
    script = read_log(evidence)
    claims, extraction = _claims(evidence, script, echo, diagnostics)
    diagnostics.extend(script.diagnostics)

    unread = False
    for claim in claims:
        report = claim.reading.report if claim.reading else None
        if report is None:
            unread = unread or _is_broken(claim)
            continue
        superseded = unread or (claim.source is Source.EXTRACTED and extraction.superseded)
        if superseded:
            diagnostics.append(_superseded(claim, report.status))
            if report.status == "success":
                break
        diagnostics.extend(report.remarks())
        diagnostics.extend(_disagreements(claim, claims))
        if script.failed is not None and report.status == "success":
            diagnostics.append(_stream_failed(script.failed))
        return Recovered(
            report=report,
            source=claim.source,
            form=claim.form,
            offsets=claim.offsets,
            diagnostics=_without_repeats(diagnostics),
        )
    if script.others_words and others_report(script, evidence.raw_log, echo, evidence.task_id):
        diagnostics.append(_NOT_OWN_WORDS)
    report = synthesize(evidence, last_words=script.last_words, stream_failure=script.failed or "")
    return Recovered(
        report=report, source=Source.SYNTHESIZED, diagnostics=_without_repeats(diagnostics)
    )


def recover_without(evidence: Evidence, *sources: str) -> Recovered:
    """Recover again from the same evidence with some sources taken away.

    Raises:
        SourceError: ``synthesized`` was named, which is what remains when nothing else does,
            or something that is no source; a ``ValueError`` too.
    """
    kept = evidence
    for source in sources:
        if source == "channel":
            kept = replace(kept, submission=None, submission_problem=None)
        elif source == "schema":
            kept = replace(
                kept, final_message=None, final_message_problem=None, schema_expected=False
            )
        elif source == "file":
            kept = replace(kept, report_file=None, report_file_problem=None)
        elif source == "extracted":
            kept = replace(kept, search_log=False)
        elif source == "synthesized":
            raise SourceError(source=source, problem=": it is what remains at the end")
        else:
            raise SourceError(
                source=source,
                problem=", which is no source of reports: expected channel, schema, file or "
                "extracted",
            )
    return recover(kept)


def _claims(
    evidence: Evidence, script: Script, echo: Echo, diagnostics: list[Diagnostic]
) -> tuple[list[_Claim], Extraction]:
    """Read every source, best first, and tell what is wrong with each."""
    task_id = evidence.task_id
    claims = [
        _document(Source.CHANNEL, "submission.json", evidence.submission, task_id, echo, diagnostics,
                  problem=evidence.submission_problem),
    ]  # fmt: skip
    final = evidence.final_message
    if final is None and script.final is not None:
        final = script.final.encode("utf-8", "surrogatepass")
    problem = evidence.final_message_problem
    if evidence.schema_expected and problem is not None and final is None:
        claims.append(
            _document(
                Source.SCHEMA, "final message", None, task_id, echo, diagnostics, problem=problem
            )
        )
    elif problem is not None:
        diagnostics.append(problem)
    if evidence.schema_expected and final is not None and final.strip():
        claims.append(
            _document(Source.SCHEMA, "final message", final, task_id, echo, diagnostics, prose=True)
        )
    claims.append(
        _document(Source.FILE, "report.json", evidence.report_file, task_id, echo, diagnostics,
                  problem=evidence.report_file_problem)
    )  # fmt: skip
    extraction = Extraction()
    if evidence.search_log:
        extraction = extract(script.passages, echo=echo, task_id=task_id)
        diagnostics.extend(extraction.diagnostics)
        chosen = extraction.chosen
        if chosen is not None:
            first = evidence.raw_log_offset
            in_log = chosen.start < chosen.end  # else it stands in the message file
            start, end = script.locate(chosen.start, chosen.end) if in_log else (0, 0)
            claims.append(
                _Claim(
                    source=Source.EXTRACTED,
                    reading=chosen.reading,
                    name="log" if in_log else "final message",
                    form=chosen.form,
                    offsets=(first + start, first + end) if in_log else None,
                )
            )
    return claims, extraction


def _document(
    source: Source,
    name: str,
    data: bytes | None,
    task_id: str,
    echo: Echo,
    diagnostics: list[Diagnostic],
    *,
    problem: Diagnostic | None = None,
    prose: bool = False,
) -> _Claim:
    if problem is not None:
        diagnostics.append(problem)
        reading = Reading(flaw="malformed", problem=problem.message)
        return _Claim(source=source, reading=reading, name=name)
    if data is None:
        return _Claim(source=source, reading=None, name=name)
    reading = read_report(data, task_id=task_id)
    diagnostics.extend(
        Diagnostic(code=flag, message=_FLAGS[flag].format(name=name), path=name)
        for flag in reading.flags
    )
    if reading.report is not None and echo.is_shown(reading.value):
        reading = Reading(flaw="invalid", problem="it is the example that the brief shows")
    if reading.report is not None and is_synthesized(reading.report):
        message = f"{name} was synthesized by an orchestrator; it is not read as the agent's"
        diagnostics.append(
            Diagnostic(code="report-file-not-the-agents", message=message, path=name)
        )
        return _Claim(source=source, reading=None, name=name)
    if reading.flaw == "foreign":
        diagnostics.append(
            Diagnostic(
                code="report-of-another-task", message=f"{name}: {reading.problem}", path=name
            )
        )
    elif reading.flaw == "version":
        diagnostics.append(
            Diagnostic(
                code="report-version",
                message=f"unsupported version of a report in {name}: {reading.problem}",
                path=name,
            )
        )
    elif reading.flaw is not None:
        if prose and not data.lstrip().startswith(b"{"):
            diagnostics.append(
                Diagnostic(
                    code="final-message-invalid",
                    message="the final message is prose where a structured one was asked for",
                )
            )
            return _Claim(source=source, reading=None, name=name)
        message = f"{name} is not a report: {reading.problem}"
        diagnostics.append(Diagnostic(code=_INVALID[source], message=message, path=name))
    return _Claim(source=source, reading=reading, name=name)


def _is_broken(claim: _Claim) -> bool:
    return claim.reading is not None and claim.reading.flaw not in {None, "foreign"}


def _superseded(claim: _Claim, status: str) -> Diagnostic:
    verdict = "so its success does not count" if status == "success" else f"it says {status}"
    return Diagnostic(
        code="report-superseded",
        message=f"a better or newer report than that of the {claim.name} is there and cannot "
        f"be read; {verdict}",
    )


def _stream_failed(reason: str) -> Diagnostic:
    return Diagnostic(
        code="stream-failed",
        message=f"the report says success, and of the stream: {one_line(reason, limit=300)}",
        path="raw.log",
    )


def _disagreements(chosen: _Claim, claims: Iterable[_Claim]) -> list[Diagnostic]:
    """Tell which valid reports of other sources say something else than the chosen one."""
    told = []
    for claim in claims:
        if claim is chosen or claim.reading is None or claim.reading.report is None:
            continue
        if chosen.reading is None or chosen.reading.report is None:
            continue
        mine, theirs = chosen.reading.report, claim.reading.report
        if canonical(chosen.reading.value) == canonical(claim.reading.value):
            continue
        if claim.source is Source.EXTRACTED and mine.status == theirs.status:
            continue  # a shorter word on the terminal is no contradiction
        told.append(
            Diagnostic(
                code="reports-disagree",
                message=f"the {chosen.name} says {mine.status} and counts; the {claim.name} "
                f"says {theirs.status}"
                + ("" if mine.status != theirs.status else " with other contents"),
            )
        )
    return told


def _without_repeats(diagnostics: list[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(dict.fromkeys(diagnostics))
