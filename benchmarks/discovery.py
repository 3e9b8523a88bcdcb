"""Finding agent definitions among 3 000 files, beside merely reading those files."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.measuring import Row, interleave, ratio
from pytest_caesar.agents.discovery import FAMILIES, discover_agents

FILES = 3_000
ROUNDS = 5
BODY = "\n".join(f"{n}. Do the next thing, and say what you did and why." for n in range(60))


def rows() -> list[Row]:
    """Return one row for each kind of front matter."""
    return [_row("plain fields", _plain), _row("blocks and lists", _rich)]


def _row(what: str, block: object) -> Row:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for number in range(FILES):
            folder = root / FAMILIES[number % len(FAMILIES)] / "agents"
            folder.mkdir(parents=True, exist_ok=True)
            text = block(number)  # type: ignore[operator]
            (folder / f"agent-{number}.md").write_text(f"---\n{text}---\n{BODY}\n")

        def discover() -> None:
            found = discover_agents(root, None, stop_at=root)
            assert len(found.agents) >= FILES

        def read() -> None:
            for file in root.rglob("*.md"):
                file.read_text(encoding="utf-8")

        measured, floor = interleave(discover, read, rounds=ROUNDS)
    return ratio(
        f"discovery over {FILES} definitions ({what}), over reading them", measured, floor, 15
    )


def _plain(number: int) -> str:
    return (
        f"name: agent-{number}\n"
        "description: Reviews changes for mistakes that their author would want to fix.\n"
        "tools: Read, Grep, Bash\n"
        "model: sonnet\n"
    )


def _rich(number: int) -> str:
    return (
        f"name: agent-{number}\n"
        "description: |\n  Use it when: something has changed.\n\n  It reads, and it reports.\n"
        "tools:\n  - Read\n  - Grep\n"
        "output:\n  type: object\n  properties:\n    summary: {type: string}\n"
    )
