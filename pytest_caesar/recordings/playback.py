"""From a recording to a task that looks as if its agent had just worked."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from caesar_agent.clock import monotonic, pause
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.errors import CaesarError
from caesar_agent.mailbox import files
from caesar_agent.mailbox.mailbox import Mailbox
from caesar_agent.mailbox.values import Answer, Reply, Silence, encode, file_name
from caesar_agent.task_directory import TaskDirectory, write_atomic
from pytest_caesar.orchestrator.starting import Start
from pytest_caesar.recordings.errors import (
    RecordingBrokenError,
    RecordingError,
    RecordingMismatchError,
)
from pytest_caesar.recordings.patches import PatchError, put_patch, show_patch
from pytest_caesar.recordings.placeholders import PlaceError, Places
from pytest_caesar.recordings.recording import (
    PATCH,
    FormatError,
    RecordedQuestion,
    Recording,
    mapped,
    parse_outcome,
)
from pytest_caesar.supervision.outcome import Outcome
from pytest_caesar.supervision.time_left import fit
from pytest_caesar.workspace.values import Workspace

SILENCE = 0.25
"""Seconds in which a script may close a question that was never answered, before the agent
that is played back gives it up."""


def shown(recording: Recording, places: Places, *, folder: Path) -> Recording:
    """Return a recording with everything put back that stands for something here.

    Raises:
        RecordingBrokenError: it holds a placeholder that there is not.
    """

    def put_back(name: str, data: bytes) -> bytes:
        return show_patch(data, places) if name == PATCH else places.show(data)

    try:
        return mapped(recording, places.show_value, put_back)
    except PlaceError as error:
        raise RecordingBrokenError(folder=folder, problem=str(error)) from error


def play(
    recording: Recording, start: Start, workspace: Workspace, *, folder: Path, scripted: bool
) -> Outcome:
    """Bring about in a task what was recorded; everything after it is as after an agent.

    Args:
        recording: with everything put back.
        start: as for an agent.
        workspace: fresh; gets the patch.
        folder: where it was recorded, for messages.
        scripted: a script answers questions; else the recorded answers are given.

    Raises:
        RecordingError: the patch does not apply, or a question is answered otherwise now.
    """
    _put_files(recording, workspace, folder)
    directory = start.directory
    _append(start.log.fd, recording.files.get("raw.log", b""))
    for name in ("stderr.log", "events.jsonl"):
        if name in recording.files:
            write_atomic(directory.path / name, recording.files[name])
    start.narration.play_back()
    timeout, _ = fit(start.task.deadline_ms / 1000, 0.0, start.settings.seconds_left())
    ends = monotonic() + timeout
    for question in recording.questions:
        _ask(question, start, folder=folder, scripted=scripted, ends=ends)
    for name in ("submission.json", "report.json", "final-message.txt"):
        if name in recording.files:
            write_atomic(directory.path / name, recording.files[name])
    try:
        return parse_outcome(recording.outcome)
    except FormatError as error:  # pragma: no cover - told when it was read
        raise RecordingBrokenError(folder=folder, problem=str(error)) from error


def merge_findings(
    recorded: tuple[Diagnostic, ...], found: tuple[Diagnostic, ...]
) -> tuple[Diagnostic, ...]:
    """Return what the harness found, and what it had found of the agent itself, in that order.

    What an agent did to refs or to the log cannot be played back; that it was found can.
    """
    left = list(found)
    merged = []
    for item in recorded:
        same = next((one for one in left if (one.code, one.path) == (item.code, item.path)), None)
        if same is not None:
            left.remove(same)
        merged.append(same or item)
    return (*merged, *left) if merged else found


def _put_files(recording: Recording, workspace: Workspace, folder: Path) -> None:
    patch = recording.files.get(PATCH, b"")
    if not patch:
        return
    if workspace.snapshot is None:
        problem = f"{workspace.path} is not under git, so {PATCH} cannot be applied"
        raise RecordingError(folder=folder, problem=problem)
    try:
        put_patch(workspace.snapshot, patch)
    except PatchError as error:
        problem = f"{PATCH} does not apply: {error}"
        raise RecordingBrokenError(folder=folder, problem=problem) from error


def _append(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _ask(
    question: RecordedQuestion, start: Start, *, folder: Path, scripted: bool, ends: float
) -> None:
    mailbox = Mailbox(start.directory)
    _write_question(start.directory, question)
    reply: Reply | None = None
    if question.state == "answered" and not scripted:
        assert question.answer is not None
        with suppress(CaesarError):
            mailbox.answer(question.id, question.answer)
    limit = ends if question.state == "answered" else min(ends, monotonic() + SILENCE)
    while (reply := mailbox.poll(question.id)) is None and monotonic() < limit:
        pause(0.001)
    if reply is None:
        state = question.state if question.state in ("expired", "rejected") else "withdrawn"
        reply = mailbox.close(question.id, state)
    now = reply.text if isinstance(reply, Answer) else reply.reason
    recorded = question.answer if question.state == "answered" else question.state
    if now != recorded or isinstance(reply, Silence) == (question.state == "answered"):
        raise RecordingMismatchError(
            folder=folder,
            problem="a question of the agent is answered otherwise than when it was recorded",
            differences=((f"answer to {question.question!r:.120}", recorded, now),),
        )


def _write_question(directory: TaskDirectory, question: RecordedQuestion) -> None:
    value = {
        "id": question.id,
        "question": question.question,
        "options": list(question.options),
        **({"asked_at": question.asked_at} if question.asked_at else {}),
    }
    name = file_name(question.id)
    with files.folder(directory.path, "questions", create=True) as descriptor:
        assert descriptor is not None
        files.create(descriptor, name, encode("question", value))
