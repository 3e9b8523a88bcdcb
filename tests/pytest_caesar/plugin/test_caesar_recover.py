"""The fixtures ``caesar_recover`` and ``caesar_repo``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_caesar.fake_agent.agent import FakeAgents
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.recovery.evidence import Recovered
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.plugin.running import Runs

LOG = """\
Some words.

```json caesar:report
{"protocol": "caesar.report/v1", "status": "blocked", "summary": "Which port?"}
```
"""
REPORT = '{"protocol": "caesar.report/v1", "status": "success", "summary": "Fixed."}'
DIFF = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-x\n+y\n"

Recover = Callable[..., Recovered]


def codes(recovered: Recovered) -> list[str]:
    return [item.code for item in recovered.diagnostics]


def as_kind(text: str, kind: str, folder: Path) -> str | bytes | Path:
    file = folder / f"kept-{abs(hash(text))}"
    file.write_text(text)
    kinds: dict[str, str | bytes | Path] = {"text": text, "bytes": text.encode(), "file": file}
    return kinds[kind]


@pytest.mark.parametrize("kind", ["text", "bytes", "file"])
def test_a_report_is_recovered_from_a_log(
    caesar_recover: Recover, tmp_path: Path, kind: str
) -> None:
    recovered = caesar_recover(as_kind(LOG, kind, tmp_path))
    assert recovered.source == "extracted"
    assert recovered.form == "fence"
    assert recovered.report.summary == "Which port?"


@pytest.mark.parametrize("kind", ["text", "bytes", "file"])
def test_files_brief_and_diff_count_in_any_form(
    caesar_recover: Recover, tmp_path: Path, kind: str
) -> None:
    def kept(text: str) -> str | bytes | Path:
        return as_kind(text, kind, tmp_path)

    assert caesar_recover("", report_file=kept(REPORT)).source == "file"
    assert caesar_recover("", submission=kept(REPORT)).source == "channel"
    assert caesar_recover("", final_message=kept(REPORT), schema_expected=True).source == "schema"
    assert caesar_recover(REPORT, brief=kept(f"Like this: {REPORT}")).source == "synthesized"
    made = caesar_recover("", diff=kept(DIFF))
    assert [change.path for change in made.report.changes] == ["a.txt"]


def test_how_it_ended_speaks_against_a_success(caesar_recover: Recover) -> None:
    assert codes(caesar_recover(REPORT)) == []
    assert codes(caesar_recover(REPORT, exit_code=1)) == ["success-but-exit-code"]
    assert codes(caesar_recover(REPORT, signal="SIGKILL")) == ["success-but-killed"]
    assert codes(caesar_recover(REPORT, timed_out=True)) == ["success-but-timed-out"]
    assert codes(caesar_recover(REPORT, exit_code=None)) == []


def test_the_diff_decides_what_an_agent_without_a_report_did(caesar_recover: Recover) -> None:
    assert caesar_recover("Bye.", diff=DIFF).report.status == "partial"
    assert caesar_recover("Bye.", diff="").report.status == "failed"
    assert codes(caesar_recover("Bye.", diff=DIFF, mode="read-only")) == ["read-only-violation"]


def test_a_task_directory_is_read_as_the_command_reads_it(
    caesar_recover: Recover, tmp_path: Path
) -> None:
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a.txt": "a"})
    fake = FakeAgents(tmp_path / "agents")
    run = Orchestrator(project=repository.path).delegate(
        "Work", agent=fake(fake.report(cut=30), fake.print(LOG), fake.exit(3))
    )
    recovered = caesar_recover(run.task_dir)
    assert recovered.source == run.source == "extracted"
    assert set(codes(recovered)) <= run.codes
    assert caesar_recover(run.task_dir, report_file=REPORT).source == "file"


def test_a_field_that_there_is_not_is_named(caesar_recover: Recover) -> None:
    with pytest.raises(TypeError, match="caesar_recover takes no report; there are task_id, mode"):
        caesar_recover(LOG, report=b"{}")


def test_a_verdict_is_compared_with_a_snapshot(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        f"""
        def test_it(caesar_recover, caesar_snapshot):
            assert caesar_recover({LOG!r}, exit_code=1, report_file="{{") == caesar_snapshot
        """
    )
    run("--snapshot-update").assert_outcomes(passed=1)
    run().assert_outcomes(passed=1)
    (snapshot,) = (pytester.path / "__caesar__").rglob("*.*")
    assert snapshot.name == "test_it.value.json"
    assert '"source": "extracted"' in snapshot.read_text()
    assert "report-file-invalid" in snapshot.read_text()
    snapshot.write_text(snapshot.read_text().replace("Which port?", "Which host?"))
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(['*-*"summary": "Which host?"*', '*+*"summary": "Which port?"*'])


def test_a_repository_is_new_for_each_test(caesar_repo: Repository) -> None:
    before = caesar_repo.head
    first = caesar_repo.commit({"a.txt": "a"})
    assert (before, caesar_repo.head) == (None, first)
    assert caesar_repo.git("status", "--porcelain") == ""


def test_a_failing_test_shows_what_was_recovered(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        f"""
        import pytest

        @pytest.fixture
        def recovered(request):
            # Also where it is asked for late.
            return request.getfixturevalue("caesar_recover")({LOG!r}, report_file="{{", exit_code=1)

        def test_it(recovered):
            assert recovered.status == "success"

        def test_another(recovered):
            assert recovered.form == "object"
        """
    )
    result = run()
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "E*the status is 'blocked': Which port? (assert recovered.status == *)",
            "*caesar_recover, verdict 1: blocked (source: extracted, as fence)*",
            "summary:        Which port[?]",
            "diagnostics:",
            "  report-file-invalid: *",
        ]
    )
    lines = [line for line in result.outlines if "caesar_recover, verdict" in line]
    assert len(lines) == 2


def test_a_verdict_says_itself_in_a_line(caesar_recover: Recover) -> None:
    recovered = caesar_recover(LOG, report_file="{")
    assert (recovered.status, recovered.summary) == ("blocked", "Which port?")
    assert repr(recovered) == (
        "<Recovered: blocked from extracted, report-file-invalid, report-superseded, "
        "blocked-without-question>"
    )
