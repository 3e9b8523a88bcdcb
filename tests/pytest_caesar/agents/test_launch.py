from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_caesar.agents.catalogue import CATALOGUE, explain_exit
from pytest_caesar.agents.launch import (
    Launch,
    LaunchRequest,
    effective_mode,
    expected_source,
    prepare,
)
from pytest_caesar.agents.selection_context import agent_of_cli
from pytest_caesar.agents.target import ProcessAgent
from tests.pytest_caesar.agents.conftest import Write

CHANNEL = ("/usr/bin/python", ("-m", "caesar_agent", "channel", 'a "quoted" one'))


@pytest.fixture(autouse=True)
def installed(write: Write, tmp_path: Path) -> Path:
    """Every CLI of the catalogue is on PATH."""
    for cli in CATALOGUE.values():
        write(f"bin/{cli.program}", "#!/bin/sh\n", mode=0o755)
    return tmp_path / "bin"


def launch(cli: str, folder: Path, **more: Any) -> Launch:
    agent = more.pop("agent", None) or agent_of_cli(CATALOGUE[cli])
    request: dict[str, Any] = {
        "prompt": "-P",
        "workspace": Path("/w"),
        "task_dir": Path("/t"),
        "report_path": Path("/t/report.json"),
        "model": None,
        "network": False,
        "path": str(folder),
    }
    return prepare(agent, LaunchRequest(**{**request, **more}))


def arguments(cli: str, folder: Path, **more: Any) -> str:
    return " ".join(launch(cli, folder, **more).argv[1:])


def test_codex_writes_in_its_sandbox_and_reports_by_file(installed: Path) -> None:
    assert arguments("codex", installed) == (
        "exec --json --skip-git-repo-check -c allow_login_shell=false -C /w -s workspace-write --add-dir /t "
        "-o /t/final-message.txt -"
    )


def test_codex_is_held_to_a_schema_where_its_sandbox_cannot_write_the_report(
    installed: Path,
) -> None:
    assert arguments(
        "codex", installed, mode="read-only", source="schema", schema_path=Path("/t/s.json")
    ) == (
        "exec --json --skip-git-repo-check -c allow_login_shell=false -C /w -s read-only --output-schema /t/s.json "
        "-o /t/final-message.txt -"
    )


def test_codex_gets_the_network_in_write_mode_only(installed: Path) -> None:
    assert "network_access=true" in arguments("codex", installed, network=True)
    assert "network" not in arguments("codex", installed, network=True, mode="read-only")


def test_codex_is_told_to_approve_the_channel_and_where_it_is(installed: Path) -> None:
    argv = launch("codex", installed, channel=CHANNEL).argv
    settings = [argv[i + 1] for i, argument in enumerate(argv) if argument == "-c"]
    assert settings == [
        "allow_login_shell=false",
        'mcp_servers.caesar.command="/usr/bin/python"',
        r'mcp_servers.caesar.args=["-m", "caesar_agent", "channel", "a \"quoted\" one"]',
        'mcp_servers.caesar.default_tools_approval_mode="approve"',
        "mcp_servers.caesar.required=true",
    ]


@pytest.mark.parametrize("cli", ["codex", "opencode", "gemini", "claude"])
def test_a_brief_on_stdin_is_not_on_the_command_line(cli: str, installed: Path) -> None:
    found = launch(cli, installed)
    assert found.stdin == "-P"
    assert "-P" not in found.argv


@pytest.mark.parametrize("cli", ["copilot", "antigravity"])
def test_a_brief_that_starts_with_a_dash_is_never_taken_for_a_flag(
    cli: str, installed: Path
) -> None:
    found = launch(cli, installed)
    assert found.stdin is None
    assert found.argv[-1] in ("--prompt=-P", "--print=-P")


@pytest.mark.parametrize("cli", [cli.id for cli in CATALOGUE.values() if cli.model_args])
def test_a_missing_model_leaves_no_flag_dangling(cli: str, installed: Path) -> None:
    flag = CATALOGUE[cli].model_args[0]
    assert flag not in launch(cli, installed).argv
    argv = launch(cli, installed, model="large").argv
    assert argv[argv.index(flag) + 1] == "large"


@pytest.mark.parametrize("cli", CATALOGUE)
def test_reading_and_writing_are_told_apart(cli: str, installed: Path) -> None:
    write, read = (launch(cli, installed, mode=mode) for mode in ("write", "read-only"))
    assert (write.argv, write.environment) != (read.argv, read.environment)


@pytest.mark.parametrize("cli", CATALOGUE)
def test_every_argument_is_complete(cli: str, installed: Path) -> None:
    found = launch(
        cli,
        installed,
        source="schema",
        schema_path=Path("/t/s.json"),
        channel=CHANNEL,
        model="m",
        network=True,
    )
    assert not [argument for argument in found.argv if "{{" in argument]


def test_opencode_is_denied_what_it_must_not_do_in_its_settings(installed: Path) -> None:
    def settings(**more: Any) -> dict[str, Any]:
        environment = launch("opencode", installed, **more).environment
        value: dict[str, Any] = json.loads(environment["OPENCODE_CONFIG_CONTENT"])
        return value

    assert "permission" not in settings()
    assert settings(mode="read-only")["permission"] == {"edit": "deny", "bash": "deny"}
    assert settings(channel=CHANNEL)["mcp"]["caesar"]["command"] == [CHANNEL[0], *CHANNEL[1]]


def test_opencode_keeps_the_settings_that_the_user_passes(installed: Path) -> None:
    own = {"OPENCODE_CONFIG_CONTENT": '{"provider": {"p": 1}, "mcp": {"other": {}}}'}
    found = launch("opencode", installed, environ=own, channel=CHANNEL)
    settings = json.loads(found.environment["OPENCODE_CONFIG_CONTENT"])
    assert settings["provider"] == {"p": 1}
    assert set(settings["mcp"]) == {"other", "caesar"}


@pytest.mark.parametrize("own", ["not json", "[1]", ""])
def test_settings_that_are_none_are_replaced(own: str, installed: Path) -> None:
    found = launch("opencode", installed, environ={"OPENCODE_CONFIG_CONTENT": own})
    assert json.loads(found.environment["OPENCODE_CONFIG_CONTENT"])["share"] == "disabled"


def test_gemini_finds_the_channel_in_its_home(installed: Path) -> None:
    assert launch("gemini", installed).home_files == {}
    files = launch("gemini", installed, channel=CHANNEL).home_files
    settings = json.loads(files[".gemini/settings.json"])
    assert settings["mcpServers"]["caesar"]["trust"] is True


@pytest.mark.parametrize("cli", ["claude", "copilot"])
def test_others_are_given_the_channel_as_a_file(cli: str, installed: Path) -> None:
    found = launch(cli, installed, channel=CHANNEL)
    (file, text), *_ = found.files.items()
    assert file == Path("/t/mcp-config.json")
    assert json.loads(text)["mcpServers"]["caesar"]["args"] == list(CHANNEL[1])
    assert any(str(file) in argument for argument in found.argv)


def test_no_channel_is_claimed_where_none_can_be_given(installed: Path) -> None:
    agent = agent_of_cli(CATALOGUE["antigravity"])
    assert expected_source(agent, mode="write", channel=True) == "schema"


@pytest.mark.parametrize(
    ("cli", "mode", "source"),
    [
        ("codex", "read-only", "schema"),
        ("opencode", "write", "file"),
        ("opencode", "read-only", "extracted"),
        ("gemini", "read-only", "extracted"),
    ],
)
def test_the_brief_asks_for_what_the_agent_can_do(cli: str, mode: Any, source: str) -> None:
    agent = agent_of_cli(CATALOGUE[cli])
    assert expected_source(agent, mode=mode) == source
    assert expected_source(agent, mode=mode, channel=True) == "channel"


def test_a_program_of_ones_own_reports_by_file() -> None:
    agent = ProcessAgent(id="a", origin="path", argv=("/bin/sh",))
    assert expected_source(agent, mode="read-only", channel=True) == "file"


def test_an_agent_without_a_tool_that_writes_gets_no_writing_sandbox(installed: Path) -> None:
    import dataclasses

    codex = agent_of_cli(CATALOGUE["codex"])
    reader = dataclasses.replace(codex, tools=("read", "grep", "submit_result"))
    writer = dataclasses.replace(codex, tools=("read", "bash"))
    assert effective_mode(reader, "write") == "read-only"
    assert effective_mode(writer, "write") == "write"
    assert "-s read-only" in arguments("codex", installed, agent=reader)


def test_claude_is_given_the_tools_by_its_own_names(installed: Path) -> None:
    import dataclasses

    agent = dataclasses.replace(
        agent_of_cli(CATALOGUE["claude"]), tools=("read", "find", "glob", "unknown")
    )
    assert "--tools=Read,Glob" in launch("claude", installed, agent=agent).argv


def test_any_other_agent_is_launched_from_its_template() -> None:
    agent = ProcessAgent(id="a", origin="config", argv=("/bin/sh", "{{prompt}}"))
    found = launch("", Path("/bin"), agent=agent, prompt="P")
    assert found == Launch(argv=("/bin/sh", "P"), cwd=Path("/w"))


def test_every_entry_says_whether_it_was_checked() -> None:
    checked = {cli.id for cli in CATALOGUE.values() if cli.checked}
    assert checked == {"codex", "opencode", "gemini", "copilot", "qwen", "pi", "cn"}


def test_exit_codes_have_a_meaning_where_one_is_known() -> None:
    assert explain_exit("gemini", 55) == "the folder is not trusted"
    assert explain_exit("gemini", 3) == explain_exit(None, 1) == explain_exit("codex", None) == ""
