from __future__ import annotations

import os
from pathlib import Path

from pytest_caesar.agents.definition_files import (
    check_paths,
    definition_folders,
    read_definition_files,
)
from tests.pytest_caesar.agents.conftest import Write


def test_folders_of_a_project_come_highest_family_first(write: Write, tmp_path: Path) -> None:
    write(".gemini/agents/a.md")
    write(".xcsh/agents/a.md")
    write(".claude/agents", "a file")
    assert definition_folders(tmp_path) == (
        tmp_path / ".xcsh/agents",
        tmp_path / ".gemini/agents",
    )


def test_files_of_a_folder_and_below_are_read_in_order(write: Write, tmp_path: Path) -> None:
    for name in ("b.md", "a.md", "sub/c.md", "d.txt"):
        write(f"agents/{name}", name)
    single = write("elsewhere.md", "x")
    found = read_definition_files([single, tmp_path / "agents"])
    assert [file.name for file in found] == ["elsewhere.md", "a.md", "b.md", "c.md"]
    assert found[single] == b"x"


def test_what_is_no_file_is_left_out(write: Write, tmp_path: Path) -> None:
    folder = write("agents/a.md").parent
    os.mkfifo(folder / "b.md")
    (folder / "c.md").symlink_to("nowhere")
    (folder / "loop").symlink_to(".")
    assert [file.name for file in read_definition_files([folder, tmp_path / "gone.md"])] == ["a.md"]


def test_files_of_several_folders_are_checked_together(write: Write, tmp_path: Path) -> None:
    good = write(".claude/agents/a.md", "---\nname: a\ndescription: d\n---\nBody")
    bad = write(".codex/agents/b.md", "---\nname: a\ndescription: 7\n---\nBody")
    found = check_paths(definition_folders(tmp_path), relative_to=tmp_path)
    assert found[good] == ()
    [complaint] = found[bad]
    assert (complaint.path, complaint.code) == (".codex/agents/b.md", "description-missing")
