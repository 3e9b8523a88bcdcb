"""What the entries of the catalogue say of settings, logins and flags of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_caesar.agents.catalogue import CATALOGUE
from pytest_caesar.agents.cli_settings import CliSettings, CliTask
from pytest_caesar.agents.config import load_config
from pytest_caesar.agents.errors import ConfigError
from pytest_caesar.agents.selection import select

CHANNEL = ("/bin/server", ("a",))


def settings(cli: str, **task: object) -> CliSettings:
    return CATALOGUE[cli].configure(CliTask(**task))  # type: ignore[arg-type]


def gemini_file(**task: object) -> dict[str, object]:
    (text,) = settings("gemini", **task).home_files.values()
    read = json.loads(text)
    assert isinstance(read, dict)
    return read


def test_gemini_logs_in_with_a_key_that_it_is_given_also_without_a_channel() -> None:
    chosen = {"auth": {"selectedType": "gemini-api-key"}}
    assert gemini_file(environ={"GEMINI_API_KEY": "k"}) == {"security": chosen}
    both = gemini_file(environ={"GEMINI_API_KEY": "k"}, channel=CHANNEL)
    assert (both["security"], list(both)) == (chosen, ["mcpServers", "security"])
    assert settings("gemini").home_files == {}


@pytest.mark.parametrize(
    ("moved", "file"),
    [
        (None, ".gemini/settings.json"),
        ("/tmp/home/inner", "inner/.gemini/settings.json"),
        ("/home/me", None),
    ],
)
def test_gemini_finds_the_channel_where_it_reads_its_settings_or_not_at_all(
    moved: str | None, file: str | None
) -> None:
    environ = {"HOME": "/tmp/home"} | ({} if moved is None else {"GEMINI_CLI_HOME": moved})
    told = settings("gemini", channel=CHANNEL, environ=environ)
    assert list(told.home_files) == ([] if file is None else [file])
    assert ("GEMINI_CLI_HOME" in told.unreached) == (file is None)


URL = "http://127.0.0.1:1/for/a/t"


@pytest.mark.parametrize(
    ("cli", "model", "told"),
    [
        ("codex", None, 'base_url = "http://127.0.0.1:1/for/a/t/v1"'),
        ("codex", "mine", 'model = "mine"'),
        ("opencode", None, '"baseURL": "http://127.0.0.1:1/for/a/t/v1"'),
        ("opencode", "acme/large", '"model": "acme/large"'),
        ("gemini", None, '"GOOGLE_VERTEX_BASE_URL": "http://127.0.0.1:1/for/a/t"'),
        ("gemini", "mine", '"GEMINI_MODEL": "mine"'),
        ("copilot", None, '"COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1:1/for/a/t/v1"'),
        ("copilot", "mine", '"COPILOT_MODEL": "mine"'),
        ("claude", None, '"ANTHROPIC_BASE_URL": "http://127.0.0.1:1/for/a/t"'),
    ],
)
def test_a_scripted_model_is_written_into_settings_and_variables(
    cli: str, model: str | None, told: str
) -> None:
    wired = settings(cli, model_url=URL, model=model, channel=CHANNEL)
    texts = [json.dumps(dict(wired.environment)), *wired.home_files.values()]
    texts += [wired.environment.get("OPENCODE_CONFIG_CONTENT", "")]
    assert any(told in text for text in texts)


def test_opencode_leaves_settings_of_the_user_out_beside_a_scripted_model() -> None:
    mine = {"OPENCODE_CONFIG_CONTENT": json.dumps({"provider": {"acme": {"apiKey": "secret"}}})}
    wired = settings("opencode", model_url=URL, environ=mine)
    assert "secret" not in wired.environment["OPENCODE_CONFIG_CONTENT"]


ENTRY = """
[[agent]]
id = "mine"
cli = "codex"
extra_args = {}
"""


def write(project: Path, extra_args: str) -> None:
    (project / ".caesar").mkdir()
    (project / ".caesar" / "config.toml").write_text(ENTRY.format(extra_args))


def test_a_known_cli_takes_flags_of_ones_own(tmp_path: Path) -> None:
    write(tmp_path, '["-c", "model_reasoning_effort=high", "--ephemeral"]')
    agent = select("mine", project=tmp_path, start=tmp_path)
    assert (agent.id, agent.cli, agent.dialect) == ("mine", "codex", "codex")  # type: ignore[union-attr]
    assert agent.extra_args == ("-c", "model_reasoning_effort=high", "--ephemeral")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("extra_args", "named"),
    [
        ('["--json"]', "--json"),
        ('["-s", "danger-full-access"]', "-s"),
        ('["-m=other"]', "-m=other"),
        ('["-c", "allow_login_shell=true"]', "allow_login_shell=true"),
        ('["-c", "mcp_servers.caesar.enabled=false"]', "mcp_servers.caesar.enabled=false"),
    ],
)
def test_what_the_entry_sets_itself_is_refused_by_name(
    extra_args: str, named: str, tmp_path: Path
) -> None:
    write(tmp_path, extra_args)
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path)
    assert f'agent[0].extra_args: "{named}" is what codex is run with here' in str(caught.value)
