"""The lie in the tutorial is found out; ``tests/test_howto.py`` holds the rest of it true."""

from __future__ import annotations

import re
import sys

import pytest

from tests.conftest import ROOT
from tests.pytest_caesar.plugin.running import Runs

PAGE = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
FILES = dict(
    re.findall(r"`([a-z_]+\.py)`:\n\n```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
)


@pytest.fixture
def files(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the files of the tutorial."""
    assert sorted(FILES) == ["test_tidy.py", "test_tidy_snapshot.py", "test_wrong.py", "tidy.py"]
    for name, text in FILES.items():
        (pytester.path / name).write_text(text)
    monkeypatch.delitem(sys.modules, "tidy", raising=False)


def test_its_lie_is_found_out_as_it_says(pytester: pytest.Pytester, run: Runs, files: None) -> None:
    lines = FILES["tidy.py"].splitlines(keepends=True)
    kept = [line for line in lines if "agent.file_changed" not in line]
    assert len(kept) == len(lines) - 1
    (pytester.path / "tidy.py").write_text("".join(kept))
    result = run("--caesar-agent=tidy:main", "test_tidy.py")
    result.assert_outcomes(failed=1)
    told = re.findall(r"^E  .*$", PAGE, re.MULTILINE)
    assert len(told) == 3
    assert all(line in result.outlines for line in told)
