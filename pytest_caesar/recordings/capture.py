"""From a run to its recording."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.task_directory import Reading, read_bounded
from pytest_caesar.recordings.patches import check_binaries, hide_patch
from pytest_caesar.recordings.placeholders import Places
from pytest_caesar.recordings.recording import (
    PATCH,
    RecordedQuestion,
    Recording,
    mapped,
    outcome_value,
)
from pytest_caesar.recordings.secret_forms import forms_in
from pytest_caesar.recordings.secret_variables import is_common
from pytest_caesar.runs.run import Run

MAX_RECORDED_BYTES = 16 * 2**20
"""Bytes of one file that are recorded at most: 16 MiB; nobody reviews more."""

AGENT_HOME = "agent-home"
"""The name of the agent's temporary HOME, which is another one each time."""


class UnfitError(ValueError):
    """What came of a delegation cannot be kept; the text says why."""


def capture(
    run: Run, *, facts: Mapping[str, Any], folders: Mapping[str, str], secrets: Mapping[str, str]
) -> Recording:
    """Return the recording of a run, its secrets gone and its paths replaced.

    Args:
        run: what came of it.
        facts: what must be the same at play-back, already with placeholders.
        folders: of this machine, by the names of their placeholders.
        secrets: values by the names of their variables.

    Raises:
        UnfitError: the workspace is not under git, a file cannot be kept or is too large,
            or other agents took part.
        PatchError: the patch holds a secret where none can be hidden.
    """
    if not run.observation.verified:
        message = "git could not tell what changed, so there is no patch to play back"
        raise UnfitError(message)
    if run.children:
        message = "the agent asked for other agents, and nobody would ask for them at play-back"
        raise UnfitError(message)
    files = dict(_files(run))
    for name, data in files.items():
        if len(data) > MAX_RECORDED_BYTES:
            message = f"{name} takes {len(data)} bytes, at most {MAX_RECORDED_BYTES} are recorded"
            raise UnfitError(message)
    homes = _agent_homes(files.values())
    places = Places({**folders, **homes}, task_id=run.task.id, secrets=secrets)
    # The user's home may be as short as /root, which an agent writes for reasons of its own.
    own = {name: path for name, path in folders.items() if name != "home"}
    kept = {name: value for name, value in secrets.items() if not is_common(value)}
    patch_places = Places({**own, **homes}, task_id=run.task.id, secrets=kept)
    check_binaries(run, patch_places)

    def hidden(name: str, data: bytes) -> bytes:
        return hide_patch(data, patch_places) if name == PATCH else places.hide(data)

    recording = Recording(
        task={},
        outcome=outcome_value(run.outcome),
        questions=tuple(
            RecordedQuestion(
                id=item.id,
                question=item.question,
                options=item.options,
                asked_at=item.asked_at,
                state="withdrawn" if item.state == "pending" else item.state,
                answer=item.answer,
            )
            for item in run.questions
        ),
        findings=run.harness_findings,
        programs=run.activity.programs,
        written=run.activity.written if _timed(run) else None,
        permissions=run.permissions,
        files=files,
    )
    done = mapped(recording, places.hide_value, hidden)
    return Recording(
        task=facts,
        outcome=done.outcome,
        questions=done.questions,
        findings=done.findings,
        programs=done.programs,
        written=done.written,
        permissions=done.permissions,
        files=done.files,
    )


def told_of(run: Run, secrets: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """Say what of the patch could not be hidden, and what was replaced in it by its look."""
    patch = bytes(run.patch)
    common = [
        name
        for name, value in secrets.items()
        if is_common(value) and value.encode("utf-8", "surrogateescape") in patch
    ]
    found = [
        Diagnostic(
            code="recording-not-hidden",
            message=f"the value of {name} stands in the recorded patch: it is short or a common "
            "word, and is not cut out of code",
        )
        for name in common
    ]
    added = b"\n".join(line for line in patch.split(b"\n") if line.startswith(b"+"))
    return (
        *found,
        *(
            Diagnostic(
                code="recording-replaced",
                message=f"what looks like a secret ({name}) was replaced in the recorded patch; "
                "play-back writes the placeholder",
            )
            for name in forms_in(added)
        ),
    )


def _timed(run: Run) -> bool:
    """Tell whether the end of any command is known, so that times of files are of use."""
    return any(command.ended_at is not None for command in run.commands)


def _files(run: Run) -> Iterable[tuple[str, bytes]]:
    evidence = run.evidence
    if evidence.raw_log_offset:
        message = "raw.log is larger than is read, let alone recorded"
        raise UnfitError(message)
    for problem in (
        evidence.report_file_problem,
        evidence.submission_problem,
        evidence.final_message_problem,
    ):
        if problem is not None:
            raise UnfitError(problem.message)
    found = {
        PATCH: bytes(run.patch) or None,
        "report.json": evidence.report_file,
        "submission.json": evidence.submission,
        "final-message.txt": evidence.final_message,
        "events.jsonl": _kept(run.task_dir / "events.jsonl"),
        "raw.log": evidence.raw_log,
        "stderr.log": _kept(run.task_dir / "stderr.log"),
    }
    return ((name, data) for name, data in found.items() if data is not None)


def _kept(path: Path) -> bytes | None:
    reading: Reading = read_bounded(path, max_bytes=MAX_RECORDED_BYTES)
    if reading.problem is not None:
        raise UnfitError(reading.problem.message)
    return reading.data


def _agent_homes(files: Iterable[bytes]) -> dict[str, str]:
    start = f"{tempfile.gettempdir()}/caesar-home-"
    pattern = re.compile(re.escape(start).encode() + rb"[A-Za-z0-9_]{8}(?![A-Za-z0-9_])")
    for data in files:
        match = pattern.search(data)
        if match is not None:
            return {AGENT_HOME: match[0].decode()}
    return {}
