"""Known CLIs that do not come to work: stand-ins that print what the real ones print."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.reporting.sections import run_section
from pytest_caesar.runs.run import Run
from pytest_caesar.workspace.repository import Repository


def delegate(repo: Repository, cli: str, script: str, **options: object) -> Run:
    """Delegate to a shell script under the name of a known CLI."""
    folder = repo.path.parent / "bin"
    folder.mkdir()
    (folder / cli).write_text(f"#!/bin/sh\n{script}\n")
    (folder / cli).chmod(0o755)
    settings = OrchestratorSettings(path_first=(str(folder),), grace=0.2)
    repo.commit({"a.txt": "one\n"})
    orchestrator = Orchestrator(cli, project=repo.path, settings=settings)
    return orchestrator.delegate("Work", **options)  # type: ignore[arg-type]


STDERR = "Error loading config.toml: invalid transport in mcp_servers.caesar"


def test_why_a_cli_did_not_start_is_told(caesar_repo: Repository) -> None:
    run = delegate(caesar_repo, "codex", f"echo '{STDERR}' >&2; exit 1")
    assert "printed nothing" not in run.summary
    assert "Made from what it printed on stderr, " in run.summary
    assert f"stderr ends: {STDERR}." in run.summary
    assert f"Last lines of stderr.log:\n{STDERR}" in run.report.details
    section = run_section(run)[1]
    assert f"stderr.log:\n  | {STDERR}" in section
    assert "raw.log:        empty" in section


def test_only_a_cli_that_prints_nothing_at_all_printed_nothing(caesar_repo: Repository) -> None:
    run = delegate(caesar_repo, "codex", "exit 1")
    assert "; it printed nothing." in run.summary


def test_a_channel_that_cannot_start_is_told_with_its_reason(caesar_repo: Repository) -> None:
    line = "required MCP servers failed to initialize: caesar: No such file or directory"
    run = delegate(caesar_repo, "codex", f"echo 'Error: {line}' >&2; exit 1", channel=True)
    (found,) = [item for item in run.diagnostics if item.code == "channel-not-started"]
    assert found.message == f"codex could not start the return channel, and ended: Error: {line}"


@pytest.mark.parametrize(
    ("passed", "remarked"), [({}, True), ({"CODEX_API_KEY": "k"}, False), ({"OTHER": "k"}, True)]
)
def test_a_cli_without_a_login_is_remarked_on(
    caesar_repo: Repository,
    monkeypatch: pytest.MonkeyPatch,
    passed: Mapping[str, str],
    remarked: bool,  # noqa: FBT001 - of a table
) -> None:
    for name, value in passed.items():
        monkeypatch.setenv(name, value)
    folder = caesar_repo.path.parent / "bin"
    folder.mkdir()
    (folder / "codex").write_text("#!/bin/sh\nexit 1\n")
    (folder / "codex").chmod(0o755)
    settings = OrchestratorSettings(path_first=(str(folder),), pass_env=tuple(passed))
    run = Orchestrator("codex", project=caesar_repo.path, settings=settings).delegate("Work")
    found = [item.message for item in run.diagnostics if item.code == "no-credentials"]
    assert bool(found) is remarked
    assert all("--caesar-pass-env (CODEX_API_KEY, OPENAI_API_KEY, " in text for text in found)


RETRY = '{"type":"error","message":"Reconnecting... waiting for network (timeout)"}'


def test_a_cli_that_waits_for_the_network_says_so_at_its_deadline(
    caesar_repo: Repository,
) -> None:
    lines = f"echo '{{\"type\":\"turn.started\"}}'; echo '{RETRY}'; echo '{RETRY}'; exec sleep 60"
    run = delegate(caesar_repo, "codex", lines, timeout=4)
    assert (
        "nothing but retries came, the last with "
        "'Reconnecting... waiting for network (timeout)'." in run.summary
    )


GEMINI = """
printf '{"type":"init","timestamp":"t","session_id":"s","model":"m"}\\n'
printf '{"type":"message","timestamp":"t","role":"user","content":%s}\\n' "$(
    python3 -c 'import json,sys; print(json.dumps(sys.stdin.read()))')"
"""
WRITE = """
for name in a.txt new.txt; do
  echo two > $name
  printf '{"type":"tool_use","timestamp":"t","tool_name":"write_file","tool_id":"%s",' $name
  printf '"parameters":{"file_path":"%s","content":"two"}}\\n' $name
  printf '{"type":"tool_result","timestamp":"t","tool_id":"%s","status":"success"}\\n' $name
done
"""


def test_a_new_file_is_created_where_the_stream_does_not_say_so(caesar_repo: Repository) -> None:
    run = delegate(caesar_repo, "gemini", GEMINI + WRITE)
    told = [(event.path, event.action) for event in run.events.of_type("file_changed")]  # type: ignore[attr-defined]
    assert told == [("a.txt", "modified"), ("new.txt", "created")]


REPORT = '{"protocol":"caesar.report/v1","status":"success","summary":"Done."}'
RESULT = """
printf '{"type":"tool_result","timestamp":"t","tool_id":"1","status":"success","output":%s}\\n' "$(
    python3 -c 'import json,sys; print(json.dumps(sys.argv[1]))' 'REPORT')"
"""


def test_a_brief_that_a_cli_repeats_is_not_called_a_report(caesar_repo: Repository) -> None:
    run = delegate(caesar_repo, "gemini", GEMINI, channel=True)
    assert "report-not-own-words" not in run.codes
    assert run.source == "synthesized"


def test_a_report_in_the_output_of_a_tool_is_still_told(caesar_repo: Repository) -> None:
    run = delegate(caesar_repo, "gemini", GEMINI + RESULT.replace("REPORT", REPORT))
    assert "report-not-own-words" in run.codes


def test_the_network_of_copilot_is_told_as_it_is(caesar_repo: Repository) -> None:
    run = delegate(caesar_repo, "copilot", "exit 1", network="off")
    assert run.task.network is True
    assert "network-not-guaranteed" in run.codes


def test_gemini_with_settings_of_the_user_is_told_to_have_no_channel(
    caesar_repo: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path))
    folder = caesar_repo.path.parent / "bin"
    folder.mkdir()
    (folder / "gemini").write_text("#!/bin/sh\nexit 41\n")
    (folder / "gemini").chmod(0o755)
    settings = OrchestratorSettings(path_first=(str(folder),), pass_env=("GEMINI_CLI_HOME",))
    orchestrator = Orchestrator("gemini", project=caesar_repo.path, settings=settings)
    run = orchestrator.delegate("Work", channel=True)
    (found,) = [item for item in run.diagnostics if item.code == "channel-not-offered"]
    assert str(tmp_path) in found.message
    assert not (tmp_path / ".gemini").exists()
    assert "(not authenticated: no key, or a way to log in that it refuses)" in run.summary
