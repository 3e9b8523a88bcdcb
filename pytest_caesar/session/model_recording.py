"""A conversation with a real model, kept beside its test as a script."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from caesar_agent.console import one_line
from caesar_agent.task_directory import write_atomic
from pytest_caesar.model.script import Conversation, Script, ScriptedModelError
from pytest_caesar.model.script_file import read_script, script_value
from pytest_caesar.recordings.placeholders import Places
from pytest_caesar.recordings.secret_variables import secrets_of

if TYPE_CHECKING:
    from pytest_caesar.model.scripted_model import ScriptedModel
    from pytest_caesar.runs.run import Run

SUFFIX = ".model.json"


class ModelRecording:
    """Records the conversation of one test, or reads what was recorded.

    Args:
        path: the file, which need not exist.
        mode: ``none`` plays, ``once`` records where there is nothing yet, ``all`` records anew.
        in_ci: nothing is recorded.
        folders: absolute paths by name that stand as placeholders.
        runs: gives the runs of the test so far.
    """

    def __init__(
        self,
        path: Path,
        mode: Literal["none", "once", "all"],
        *,
        in_ci: bool,
        folders: dict[str, str],
        runs: Callable[[], Sequence[Run]],
    ) -> None:
        self.path = path
        self._mode = mode
        self._in_ci = in_ci
        self._folders = folders
        self._runs = runs
        self._brief: str | None = None

    def begin(self) -> bool:
        """Tell whether the conversation is recorded now, instead of played."""
        wanted = self._mode == "all" or (self._mode == "once" and not self.path.exists())
        if wanted and self._in_ci:
            raise ScriptedModelError(
                problem=f"{self.path.name} would be recorded, and in CI (the variable CI is set) "
                "nothing is: record it elsewhere, and commit it"
            )
        return wanted

    def read(self) -> Script:
        """Return what was recorded.

        Raises:
            ScriptedModelError: there is nothing, or it is no script.
        """
        try:
            text = self.path.read_bytes()
        except FileNotFoundError:
            raise ScriptedModelError(
                problem=f"nothing was recorded in {self.path}: run with --caesar-record=once, "
                "with a key of the model in the environment"
            ) from None
        script = read_script(text)
        self._brief = json.loads(text).get("brief")
        return script

    def judge(self, model: ScriptedModel) -> str | None:
        """Keep what was recorded, or say how the brief differs from the one that was recorded."""
        runs = self._runs()
        if model.upstream is not None:
            self._save(model.upstream.turns(), runs)
            return None
        if self._brief is None or not runs:
            return None
        brief = self._hidden(runs[0].brief, runs[0])
        if brief == self._brief:
            return None
        return (
            f"caesar_model: the brief is not the one of {self.path.name}: "
            f"{_difference(self._brief, brief)}; record it again with --caesar-record=all"
        )

    def _save(self, turns: dict[str, list[Any]], runs: Sequence[Run]) -> None:
        script, brief = Script(), ""
        value: dict[str, Any] = {}
        for index, run in enumerate(run for run in runs if run.task.id in turns):
            conversation = Conversation(turns=turns[run.task.id])
            one = Script(main=conversation)
            told = json.loads(self._hidden(json.dumps(script_value(one), ensure_ascii=False), run))
            if index == 0:
                brief = self._hidden(run.brief, run)
                value = {"brief": brief, **told}
            else:
                text = self._hidden(run.task.objective, run)
                value.setdefault("on", []).append({"text": text, "turns": told["turns"]})
        if not value:
            value = script_value(script)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
        write_atomic(self.path, text.encode("utf-8", "surrogatepass"))

    def _hidden(self, text: str, run: Run) -> str:
        folders = {
            "workspace": str(run.workspace),
            "task-dir": str(run.task_dir),
            **self._folders,
        }
        places = Places(folders, task_id=run.task.id, secrets=secrets_of(os.environ))
        return places.hide(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")


def _difference(recorded: str, now: str) -> str:
    """Return the first line that differs."""
    matcher = difflib.SequenceMatcher(None, recorded.splitlines(), now.splitlines(), autojunk=False)
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag != "equal":
            was = " ".join(recorded.splitlines()[first:last]) or "nothing"
            is_now = " ".join(now.splitlines()[start:end]) or "nothing"
            return f"it was {one_line(was, limit=160)!r}, and is {one_line(is_now, limit=160)!r}"
    return "its blanks differ"
