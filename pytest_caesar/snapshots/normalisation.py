"""What varies from run to run by nature, replaced by stable placeholders; pure.

Only where such values live: the contents of files and the paths of the workspace are
the agent's own, and a date in its prose is its word. A full instant, a UUID, a full
commit id, a path of this machine, a port or a process id is nobody's word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

TIMES: Final = frozenset(
    {
        *("at", "created_at", "started_at", "ended_at", "asked_at", "answered_at", "submitted_at"),
        *("timestamp", "startedAt", "completedAt"),
    }
)
"""Fields of documents that hold an instant."""

QUANTITIES: Final = {
    "duration_ms": "<duration>",
    "durationMs": "<duration>",
    "input_tokens": "<tokens>",
    "output_tokens": "<tokens>",
    **dict.fromkeys(
        ("cached_input_tokens", "cache_write_tokens", "reasoning_tokens", "total_tokens"),
        "<tokens>",
    ),
    "cost_usd": "<cost>",
    "pid": "<pid>",
}
"""Fields of documents that hold a number which differs from run to run."""

IDS: Final = frozenset({"task_id", "correlationId"})
"""Fields of documents that hold the id of a task."""

PATHS: Final = frozenset({"path", "old_path", "file"})
"""Fields of documents that hold a path of the workspace: only folders of the machine are replaced."""

LONGEST: Final = 60
"""Characters of the longest placeholder."""

MAX_TASKS: Final = 50
"""Ids of tasks that are looked for in prose: each is one more pass over every text."""

_INSTANT = re.compile(
    r"(?<![\w.-])\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)(?!\w)"
)
_UUID = re.compile(
    r"(?<![\w-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\w-])",
    re.IGNORECASE,
)
_COMMIT = re.compile(r"(?<!\w)(?:[0-9a-f]{64}|[0-9a-f]{40})(?!\w)")
_ABBREVIATED = re.compile(r"(?<!\w)[0-9a-f]{7,39}(?!\w)")
_ELAPSED = re.compile(r"\b(in|took) \d+(?:\.\d+)? ?(?:ms|s|secs?|seconds?|min|minutes?)\b(?! ?<)")
_PORT = re.compile(r"((?<![\w.])(?:127\.0\.0\.1|0\.0\.0\.0|localhost)|\[::1\]):(\d{2,5})(?![\w.])")
_PID = re.compile(r"\b(pid|PID)([ =:] ?)(\d+)(?![\w.])")
_INTERPRETER = re.compile(r"<python>/bin/python\d+(?:\.\d+)*(?![\w.-])")
_PYTEST_FOLDER = r"(?:/[\w.+-]+)*/pytest-of-[\w.-]+/pytest-\d+(?:/popen-gw\d+)?/[\w.\[\]-]+"
_PLACEHOLDER = re.compile(r"<[\w-]+>\Z")
_NUMBERED = re.compile(r"<(?:uuid|commit|task|port|pid)-\d+>")
_ROUNDS: Final = 5
"""Passes over one text at most; what one pass brings together the next one replaces."""


class Normaliser:
    """Replaces what varies; the same value gives the same placeholder throughout.

    Args:
        roots: folders of this machine and what stands for them; any order.
        commits: full ids of commits that are known, so that abbreviations of them count.
        rules: pairs of pattern and replacement, applied to every text first.

    Raises:
        re.error: a rule is no regular expression.
    """

    def __init__(
        self,
        roots: Mapping[str, str] | None = None,
        *,
        commits: Iterable[str] = (),
        rules: Sequence[tuple[str, str]] = (),
    ) -> None:
        ordered = sorted(
            ((root.rstrip("/"), name) for root, name in (roots or {}).items()),
            key=lambda pair: (-len(pair[0]), pair[0]),
        )
        self._names = {root: name for root, name in ordered if root}
        self._roots = (
            re.compile(
                r"(?<![\w.-])(?:" + "|".join(map(re.escape, self._names)) + r")(?![\w-]|\.\w)"
            )
            if self._names
            else None
        )
        self._placeholders = {*self._names.values(), "<tmp_path>", "<time>", "<duration>"}
        # A folder that pytest made may lie below one that has a placeholder already.
        known = "".join(f"{re.escape(name)}|" for name in sorted({*self._names.values()}))
        self._pytest_folder = re.compile(rf"(?:{known}(?<![\w.+-])){_PYTEST_FOLDER}")
        self._commits = tuple(commits)
        self._rules = [(re.compile(pattern), replacement) for pattern, replacement in rules]
        self._numbers: dict[str, dict[str, int]] = {}
        self._tasks: dict[str, str] = {}

    def document(self, value: Any) -> Any:
        """Normalise a JSON value; keys are visited in sorted order."""
        for task in _task_ids(value):
            if len(self._tasks) >= MAX_TASKS:
                break
            if task not in self._tasks and len(task) > 2 and not _PLACEHOLDER.match(task):
                self._tasks[task] = f"<task-{len(self._tasks) + 1}>"
        return self._walk("", value)

    def text(self, text: str) -> str:
        """Normalise prose."""
        for pattern, replacement in self._rules:
            text = pattern.sub(replacement, text)
        for _ in range(_ROUNDS):
            before, text = text, self._once(text)
            if text == before:
                break
        return text

    def path(self, text: str) -> str:
        """Normalise a path: folders of this machine, or a commit that stands in its place."""
        if _COMMIT.fullmatch(text):
            return self._placeholder("commit", text)
        text = self._without_roots(text)
        return self._without_tasks(text) if text.startswith("<") else text

    def _walk(self, key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._walk(name, value[name]) for name in sorted(value)}
        if isinstance(value, list | tuple):
            return [self._walk(key, item) for item in value]
        if isinstance(value, str):
            if key in TIMES and _INSTANT.fullmatch(value):
                return "<time>"
            if key in IDS and value in self._tasks:
                return self._tasks[value]
            return self.path(value) if key in PATHS else self.text(value)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return QUANTITIES[key] if is_number and key in QUANTITIES else value

    def _once(self, text: str) -> str:
        text = self._without_roots(text)
        text = self._without_tasks(text)
        text = _INSTANT.sub("<time>", text)
        text = _UUID.sub(self._number("uuid", str.lower), text)
        text = _COMMIT.sub(self._number("commit"), text)
        if self._commits:
            text = _ABBREVIATED.sub(self._abbreviated, text)
        text = _ELAPSED.sub(r"\1 <duration>", text)
        text = _PORT.sub(lambda m: f"{m[1]}:{self._placeholder('port', m[2])}", text)
        return _PID.sub(lambda m: f"{m[1]}{m[2]}{self._placeholder('pid', m[3])}", text)

    def _without_roots(self, text: str) -> str:
        if self._roots is not None:
            text = self._roots.sub(self._root, text)
            text = _INTERPRETER.sub("<python>/bin/python", text)
        return self._pytest_folder.sub(
            lambda match: match[0] if self._goes_on(match) else "<tmp_path>", text
        )

    def _root(self, match: re.Match[str]) -> str:
        return match[0] if self._goes_on(match) else self._names[match[0]]

    def _goes_on(self, match: re.Match[str]) -> bool:
        """Tell whether a path is the rest of one whose beginning is a placeholder already."""
        text, end = match.string, match.start()
        before = text[text.rfind("<", max(0, end - LONGEST), end) : end]
        return before in self._placeholders or _NUMBERED.fullmatch(before) is not None

    def _without_tasks(self, text: str) -> str:
        for task, placeholder in self._tasks.items():
            if task in text:
                text = re.sub(rf"(?<!\w){re.escape(task)}(?!\w)", placeholder, text)
        return text

    def _abbreviated(self, match: re.Match[str]) -> str:
        known = [commit for commit in self._commits if commit.startswith(match[0])]
        return self._placeholder("commit", known[0]) if len(known) == 1 else match[0]

    def _number(self, kind: str, key: Callable[[str], str] = str) -> Callable[[re.Match[str]], str]:
        return lambda match: self._placeholder(kind, key(match[0]))

    def _placeholder(self, kind: str, value: str) -> str:
        numbers = self._numbers.setdefault(kind, {})
        return f"<{kind}-{numbers.setdefault(value, len(numbers) + 1)}>"


def _task_ids(value: Any) -> Iterable[str]:
    if isinstance(value, dict):
        for name in sorted(value):
            if name in IDS and isinstance(value[name], str):
                yield value[name]
            else:
                yield from _task_ids(value[name])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _task_ids(item)
