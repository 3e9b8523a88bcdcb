"""The fixtures ``caesar_recover`` and ``caesar_repo``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_caesar.recovery.evidence import Recovered
from pytest_caesar.workspace.repository import Repository

LOG = """\
Some words.

```json caesar:report
{"protocol": "caesar.report/v1", "status": "blocked", "summary": "Which port?"}
```
"""


@pytest.mark.parametrize("kind", ["text", "bytes", "file"])
def test_a_report_is_recovered_from_a_recording(
    caesar_recover: Callable[..., Recovered], tmp_path: Path, kind: str
) -> None:
    file = tmp_path / "raw.log"
    file.write_text(LOG)
    recording = {"text": LOG, "bytes": LOG.encode(), "file": file}[kind]
    recovered = caesar_recover(recording)
    assert recovered.source == "extracted"
    assert recovered.form == "fence"
    assert recovered.report.summary == "Which port?"


def test_the_rest_of_the_evidence_counts(caesar_recover: Callable[..., Recovered]) -> None:
    report = b'{"protocol": "caesar.report/v1", "status": "failed", "summary": "No."}'
    assert caesar_recover(LOG, report_file=report, exit_code=1).source == "file"
    assert caesar_recover("Nothing.", exit_code=1).report.status == "failed"


def test_a_repository_is_new_for_each_test(caesar_repo: Repository) -> None:
    before = caesar_repo.head
    first = caesar_repo.commit({"a.txt": "a"})
    assert (before, caesar_repo.head) == (None, first)
    assert caesar_repo.git("status", "--porcelain") == ""
