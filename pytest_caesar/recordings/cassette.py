"""The recordings of one test: which delegation is played back, and which is recorded."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.errors import CaesarError
from pytest_caesar.answers.scripted_answers import ScriptedAnswers
from pytest_caesar.orchestrator.starting import Start, run_agent
from pytest_caesar.programs.programs import Programs
from pytest_caesar.recordings import storage
from pytest_caesar.recordings.capture import AGENT_HOME, UnfitError, capture, told_of
from pytest_caesar.recordings.errors import (
    RecordingMismatchError,
    RecordingMissingError,
    RecordingUnfitError,
)
from pytest_caesar.recordings.patches import PatchError, base_tree, changed_files
from pytest_caesar.recordings.placeholders import Places
from pytest_caesar.recordings.playback import merge_findings, play, shown
from pytest_caesar.recordings.recording import PATCH, Recording, differences, task_facts
from pytest_caesar.recordings.secret_variables import secrets_of
from pytest_caesar.runs.activity import Activity
from pytest_caesar.runs.permission import Permission
from pytest_caesar.runs.run import Run
from pytest_caesar.settings.continuous_integration import is_ci
from pytest_caesar.supervision.outcome import Outcome
from pytest_caesar.workspace.values import Workspace

Mode = Literal["none", "once", "all"]


class RecordingWarning(UserWarning):
    """A recording holds, or lacks, what its reader would not expect."""


class Cassette:
    """All recordings of one execution of a test.

    ``once`` is decided when the execution starts: a test that has a recording plays all
    of its delegations back, one that has none is recorded.

    Args:
        folder: where they lie, or will lie.
        mode: ``none`` plays back and never records, ``all`` records and never plays
            back, ``once`` records where there is nothing yet.
        folders: of this machine, by the names of placeholders, beside those of the task.

    Attributes:
        playing: delegations are played back.
        problems: why a test fails that used these recordings.
    """

    def __init__(
        self, folder: Path, mode: Mode, *, folders: Mapping[str, str] | None = None
    ) -> None:
        self.folder = folder
        self._folders = dict(folders or {})
        self._lock = threading.Lock()
        self._numbers = storage.numbers(folder)
        self.playing = mode == "none" or (mode == "once" and bool(self._numbers))
        self._recordings: dict[int, Recording] | None = None
        self._played: set[int] = set()
        self._next = 1
        self._fresh = False
        self.problems: list[str] = []

    def performer(self, *, answers: ScriptedAnswers | None = None) -> RecordedAgent:
        """Return who carries out the next delegation.

        Args:
            answers: the script that answers the agent's questions, or None.
        """
        return RecordedAgent(self, answers)

    def judge(self) -> str | None:
        """Return why the test fails, or None."""
        return "\n".join(self.problems) or None

    def pick(self, facts: Mapping[str, Any]) -> tuple[int, Recording]:
        """Return the first recording of this task that was not played back yet.

        Raises:
            RecordingMissingError: all were played back, or there are none.
            RecordingMismatchError: none is of this task.
            RecordingBrokenError: one cannot be read.
        """
        with self._lock:
            if self._recordings is None:
                self._recordings = {
                    number: storage.read(self.folder, number) for number in self._numbers
                }
            left = {n: one for n, one in self._recordings.items() if n not in self._played}
            if not left:
                raise self._missing()
            for number, recording in left.items():
                if not differences(recording.task, facts):
                    self._played.add(number)
                    return number, recording
            number, recording = next(iter(left.items()))
            raise RecordingMismatchError(
                folder=self.folder / str(number),
                problem="the task is not the one that was recorded",
                differences=differences(recording.task, facts),
            )

    def claim(self) -> int:
        """Return the number of the next delegation that is recorded."""
        with self._lock:
            number = self._next
            self._next += 1
            return number

    def keep(self, number: int, recording: Recording) -> Path:
        """Write a recording; what an earlier execution recorded goes away first.

        Raises:
            OSError: it cannot be written.
        """
        with self._lock:
            if not self._fresh:
                storage.forget(self.folder)
                self._fresh = True
            return storage.write(self.folder, number, recording)

    def places(self, start: Start, workspace: Workspace) -> dict[str, str]:
        """Return the folders of one task by the names of their placeholders."""
        project = workspace.project_repository or workspace.path
        places = {
            "task-dir": str(start.directory.path),
            "workspace": str(workspace.path),
            "project": str(project),
            **self._folders,
        }
        with contextlib.suppress(RuntimeError):  # a user without a home
            places["home"] = str(Path.home())
        return places

    def _missing(self) -> RecordingMissingError:
        if not self._numbers:
            problem, remedy = "nothing is recorded", "record with --caesar-record=once"
            if is_ci(os.environ):
                problem = "nothing is recorded, and in CI (the variable CI is set) nothing will be"
                remedy = "run it elsewhere with --caesar-record=once and commit the recording"
        else:
            problem = f"{len(self._numbers)} delegations are recorded, and this is one more"
            remedy = "record anew with --caesar-record=all"
        return RecordingMissingError(folder=self.folder, problem=problem, remedy=remedy)


@dataclass(slots=True)
class RecordedAgent:
    """Plays one delegation back, or lets the agent work and records it.

    Attributes:
        cassette: the recordings of the test.
        answers: the script that answers the agent's questions, or None.
    """

    cassette: Cassette
    answers: ScriptedAnswers | None
    _number: int = 0
    _recording: Recording | None = None
    _facts: Mapping[str, Any] = field(default_factory=dict)
    _folders: Mapping[str, str] = field(default_factory=dict)
    _secrets: Mapping[str, str] = field(default_factory=dict)
    _programs: Programs | None = None
    _task_id: str = ""

    @property
    def starts_agent(self) -> bool:
        """The agent's program is needed."""
        return not self.cassette.playing

    def perform(self, start: Start, workspace: Workspace) -> Outcome:
        """Play the recording back, or run the agent.

        Raises:
            CaesarError: it does not fit the task; or the agent could not be started.
        """
        self._programs, self._task_id = start.settings.programs, start.task.id
        self._folders = self.cassette.places(start, workspace)
        self._secrets = secrets_of(os.environ)
        here = {AGENT_HOME: f"{tempfile.gettempdir()}/caesar-home-replayed"}
        places = Places({**self._folders, **here}, task_id=start.task.id, secrets=self._secrets)
        facts = task_facts(start.task, base_tree=base_tree(workspace.snapshot), model=start.model)
        self._facts = places.hide_value(facts)
        if not self.cassette.playing:
            self._number = self.cassette.claim()
            return run_agent(start)
        self._number, recorded = self.cassette.pick(self._facts)
        folder = self.cassette.folder / str(self._number)
        self._recording = shown(recorded, places, folder=folder)
        return play(
            self._recording, start, workspace, folder=folder, scripted=self.answers is not None
        )

    def findings(self, found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
        """Return the findings of the harness, with those that only the live run had."""
        if self._recording is None:
            return found
        recorded = self._recording.findings
        # What was the torn end of the log when the agent ended has a line behind it now.
        torn = {item.line for item in recorded if item.code == "event-line-incomplete"}
        new = (
            item for item in found if not (item.code == "event-line-invalid" and item.line in torn)
        )
        return merge_findings(recorded, tuple(new))

    def activity(self, seen: Activity) -> Activity:
        """Return what was seen; of the programs and the times of files, what was recorded."""
        if self._recording is None:
            return seen
        if self._programs is not None:
            self._programs.restore(self._recording.programs, self._task_id)
        return replace(seen, programs=self._recording.programs, written=self._recording.written)

    def complete(self, run: Run) -> Run:
        """Write the recording of a run, or look whether it is what was recorded."""
        if self._recording is not None:
            self._compare(run, self._recording)
            self._compare_permissions(self._recording.permissions)
            return replace(
                run,
                recording=self.cassette.folder / str(self._number),
                permissions=self._recording.permissions,
            )
        if run.outcome.status == "cancelled" or self._unscripted(run):
            return run  # ended or misled by the test, so it says little of the agent
        try:
            recording = capture(
                run, facts=self._facts, folders=self._folders, secrets=self._secrets
            )
            self.cassette.keep(self._number, recording)
        except (UnfitError, PatchError, CaesarError, OSError) as error:
            problem = RecordingUnfitError(
                folder=self.cassette.folder / str(self._number),
                problem=f"{run.task.id} was not recorded: {error}",
                remedy="mend that, or run the test with --caesar-record=off",
            )
            self.cassette.problems.append(str(problem))
            return run
        told = told_of(run, self._secrets)
        for item in told:
            warnings.warn(f"{run.task.id}: {item.message}", RecordingWarning, stacklevel=2)
        return replace(run, diagnostics=(*run.diagnostics, *told)) if told else run

    def _unscripted(self, run: Run) -> bool:
        unscripted = self.answers.unscripted if self.answers is not None else ()
        return not {one.id for one in unscripted}.isdisjoint(one.id for one in run.questions)

    def _compare_permissions(self, recorded: tuple[Permission, ...]) -> None:
        """Ask the script of a test again, and say where it would answer otherwise now."""
        for one in recorded if self.answers is not None else ():
            assert self.answers is not None
            decided = self.answers.permits(one.request)
            if decided is not None and decided[0] != one.allowed:
                problem = RecordingMismatchError(
                    folder=self.cassette.folder / str(self._number),
                    problem=f"the test answers another way when it is asked for {one.request}",
                    differences=(("allowed", one.allowed, decided[0]),),
                )
                self.cassette.problems.append(str(problem))

    def _compare(self, run: Run, recording: Recording) -> None:
        recorded = changed_files(recording.files.get(PATCH, b""))
        if changed_files(run.patch) != recorded:
            problem = RecordingMismatchError(
                folder=self.cassette.folder / str(self._number),
                problem="git shows other changes than were recorded",
                differences=(("patch", recorded, changed_files(run.patch)),),
            )
            self.cassette.problems.append(str(problem))
