from __future__ import annotations

from pathlib import Path

from pytest_caesar.workspace.state_before import read_plain_file


def test_a_small_file_costs_no_memory_for_what_a_large_one_might_need(tmp_path: Path) -> None:
    (tmp_path / "index").write_bytes(b"small")
    assert read_plain_file(tmp_path / "index", 1 << 50) == b"small"
    assert read_plain_file(tmp_path / "index", 2) == b"sm"
