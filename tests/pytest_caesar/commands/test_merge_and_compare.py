"""``pytest-caesar merge`` and ``compare``: files in, files and exit codes out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_caesar.cli import main
from tests.pytest_caesar.reporting.documents import document, run_entry, told_test

ALL = ["t.py::test_a", "t.py::test_b"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, *tests: str, **fields: Any) -> str:
    """Write the JSON of a shard that collected all tests and ran some."""
    value = document([told_test(test) for test in tests], [run_entry(test) for test in tests])
    value["session"]["collected"] = ALL
    Path(name).write_text(json.dumps({**value, **fields}))
    return name


def test_whole_shards_become_json_page_and_junit(capsys: pytest.CaptureFixture[str]) -> None:
    shards = [write("1.json", ALL[0]), write("2.json", ALL[1])]
    more = ["--html", "page.html", "--junit", "junit.xml", "--expect", "2"]
    assert main(["merge", *shards, "-o", "out/all.json", *more]) == 0
    assert capsys.readouterr().out == "out/all.json\npage.html\njunit.xml\n"
    assert [run["test"] for run in json.loads(Path("out/all.json").read_text())["runs"]] == ALL
    assert "<h1>All 2 tests passed.</h1>" in Path("page.html").read_text("utf-8")
    assert 'tests="2" failures="0" errors="0"' in Path("junit.xml").read_text("utf-8")


def test_an_incomplete_matrix_is_never_green(capsys: pytest.CaptureFixture[str]) -> None:
    first = write("1.json", ALL[0])
    assert main(["merge", first, "-o", "all.json", "--expect", "2", "--html", "page.html"]) == 1
    assert capsys.readouterr().err == (
        "problem: 2 shards were expected, and 1 are here: 1.json\n"
        "problem: t.py::test_b was collected, and no shard ran it\n"
    )
    assert json.loads(Path("all.json").read_text())["exit_status"] == 1
    page = Path("page.html").read_text("utf-8")
    assert "<h1>Incomplete: 2 shards were expected, and 1 are here: 1.json.</h1>" in page


def test_kept_folders_and_recordings_are_merged_and_nothing_is_overwritten(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for shard, test in (("a", "test_a"), ("b", "test_b")):
        for path, text in (
            (f"{shard}/kept/{test}/t_0001/report.json", shard),
            (f"{shard}/new/tests/__caesar__/m/{test}.rec/run.json", shard),
            (f"{shard}/new/tests/__caesar__/m/same.rec/run.json", "same"),
            (f"{shard}/new/tests/__caesar__/m/other.rec/run.json", shard),
            (f"{shard}/new/tests/module.py", "not a recording"),
        ):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(text)
    Path("b/new/tests/__caesar__/m/link.rec").symlink_to("/etc/passwd")
    shards = [write("1.json", ALL[0]), write("2.json", ALL[1])]
    folders = [
        *("--kept", "a/kept", "b/kept", "--kept-into", "kept"),
        *("--recordings", "a/new", "b/new", "--recordings-into", "project"),
    ]
    assert main(["merge", *shards, "-o", "all.json", *folders]) == 1
    told = capsys.readouterr().err
    assert "b/new/tests/__caesar__/m/other.rec/run.json differs from project/" in told
    assert "link.rec could not be read" in told
    assert len(told.splitlines()) == 2
    assert Path("kept/test_b/t_0001/report.json").read_text() == "b"
    recorded = Path("project/tests/__caesar__/m")
    assert {path.parent.name: path.read_text() for path in recorded.glob("*/run.json")} == {
        "test_a.rec": "a",
        "test_b.rec": "b",
        "same.rec": "same",
        "other.rec": "a",
    }
    assert not Path("project/tests/module.py").exists()
    assert main(["merge", *shards, "-o", "all.json", *folders[:5]]) == 1
    assert "b/kept/test_b/t_0001 is there already as kept/test_b/t_0001" in capsys.readouterr().err


def test_options_that_belong_together_are_asked_for_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shard = write("1.json", *ALL)
    assert main(["merge", shard, "-o", "all.json", "--kept", "x"]) == 2
    assert "--kept and --kept-into belong together" in capsys.readouterr().err


def test_comparing_fails_when_something_broke(capsys: pytest.CaptureFixture[str]) -> None:
    before = write("before.json", *ALL)
    broken = [told_test(ALL[0], "failed"), told_test(ALL[1])]
    after = write("after.json", *ALL, tests=broken)
    assert main(["compare", before, before]) == 0
    assert main(["compare", before, after]) == 1
    assert capsys.readouterr().out == (
        "Nothing changed: 2 as before.\n1 broken, 1 as before.\n"
        "broken   t.py::test_a (codex)\n         passed -> failed\n"
    )
    assert main(["compare", after, before, "--markdown"]) == 0
    assert "| ✓ fixed | `t.py::test_a` |" in capsys.readouterr().out
    assert main(["compare", before, after, "--html", "page.html"]) == 1
    assert "1 broken, 1 as before." in Path("page.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "x.json: not JSON (Expecting property name"),
        ("[]", "x.json: it has no list of runs; expected what pytest --caesar-json=PATH"),
        ('{"runs": [], "format": 2}', "x.json: its format is 2, and this version reads format 1"),
        ("[" * 100_000, "x.json: not JSON"),
    ],
)
def test_what_is_no_such_file_is_refused(
    text: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("x.json").write_text(text)
    assert main(["html", "x.json"]) == 2
    assert problem in capsys.readouterr().err
