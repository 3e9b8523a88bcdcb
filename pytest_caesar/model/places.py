"""What the words of a request say about places: the workspace, the file for the report."""

from __future__ import annotations

import re

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


def absolute(path: str, request: ModelRequest) -> str:
    """Return a path from the root, where the workspace is known."""
    folder = workspace(request)
    return path if path.startswith("/") or folder is None else f"{folder}/{path}"
