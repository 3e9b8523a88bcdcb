"""What the words of a request say about places: the workspace, the file for the report."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pytest_caesar.model.conversation import ModelRequest

_REPORT_FILE = re.compile(
    r"write (?:your|the) report as JSON to (?:this file: )?(/\S.*?)[ \t]*$", re.MULTILINE
)
_WORKSPACES = (
    # The brief first: it is ours. Then what CLIs tell their models.
    re.compile(r"Stay inside the workspace: (/.+?)[ \t]*$", re.MULTILINE),
    re.compile(r"<cwd>(/[^<\n]+)</cwd>"),
    re.compile(r"(?i)current working directory(?: is)?:? *`?(/[^\n`]+?)`?\.?[ \t]*$", re.MULTILINE),
    re.compile(r"(?i)working directory:? *`?(/[^\n`]+?)`?\.?[ \t]*$", re.MULTILINE),
)


WORKSPACE = "{{caesar:workspace}}"
TASK_ID = "{{caesar:task-id}}"
"""Placeholders in a script, as recordings have them."""


def workspace(request: ModelRequest) -> str | None:
    """Return the folder that the CLI works in, or None where the request does not say."""
    texts = (*request.users, request.system)
    for pattern in _WORKSPACES:
        for text in texts:
            found = pattern.search(text)
            if found:
                return found[1].rstrip("/") or "/"
    return None


def report_file(request: ModelRequest) -> str | None:
    """Return the file that the brief wants the report in, or None."""
    found = (_REPORT_FILE.search(text) for text in request.users)
    return next((match[1] for match in found if match), None)


def placed(value: Any, request: ModelRequest) -> Any:
    """Put the workspace and the task's id in the place of their placeholders, in any value."""
    if isinstance(value, str):
        if "{{caesar:" not in value:
            return value
        folder = workspace(request)
        value = value if folder is None else value.replace(WORKSPACE, folder)
        return value.replace(TASK_ID, request.task) if request.task else value
    if isinstance(value, Mapping):
        return {name: placed(item, request) for name, item in value.items()}
    return [placed(item, request) for item in value] if isinstance(value, list) else value


def absolute(path: str, request: ModelRequest) -> str:
    """Return a path from the root, where the workspace is known."""
    folder = workspace(request)
    return path if path.startswith("/") or folder is None else f"{folder}/{path}"
