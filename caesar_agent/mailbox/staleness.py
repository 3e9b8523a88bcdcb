"""An answer that lay there before its question was asked, such as one to an earlier one."""

from __future__ import annotations

import json
from datetime import datetime

from caesar_agent.mailbox import files
from caesar_agent.task_directory import TaskDirectory


def is_stale(directory: TaskDirectory, name: str) -> bool:
    """Tell whether an answer file is older than the question of the same name.

    By the times of the files; where both documents tell theirs, those must say so too, since
    a copy of a task directory keeps no times, and a test may have set the clock.

    Raises:
        UnsafeMailboxError: a folder of the mailbox is a link, or none.
        OSError: one cannot be opened.
    """
    with (
        files.folder(directory, "questions") as questions,
        files.folder(directory, "answers") as answers,
    ):
        if questions is None or answers is None:
            return False
        asked, answered = files.signature(questions, name), files.signature(answers, name)
        if asked is None or answered is None or answered[2] >= asked[2]:
            return False
        told = (_time(questions, name, "asked_at"), _time(answers, name, "answered_at"))
    return told[0] is None or told[1] is None or told[1] < told[0]


def _time(folder: int, name: str, field: str) -> datetime | None:
    try:
        text = json.loads(files.read(folder, name))[field]
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return moment if moment.tzinfo else None
