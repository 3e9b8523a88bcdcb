from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from pytest_caesar.agents.config import (
    BUILTIN_ROLES,
    MAX_CONFIG_BYTES,
    Config,
    PolicyConfig,
    load_config,
    merge_config,
)
from pytest_caesar.agents.errors import ConfigError
from tests.pytest_caesar.agents.conftest import Write

MINIMAL = """\
[[agent]]
id = "mine"
bin = "my-agent.sh"
args = ["{{prompt}}"]
"""


def read(text: str) -> Config:
    return merge_config(Config(), dedent(text), file="config.toml")


def refusal(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read(text)
    return str(caught.value)


def test_without_any_file_everything_has_its_default(tmp_path: Path) -> None:
    assert load_config(tmp_path) == Config()
    assert Config().policy == PolicyConfig(default_timeout_ms=600_000, max_depth=2, max_parallel=4)
    assert [role.name for role in Config().roles] == ["reviewer", "implementer", "investigator"]


def test_everything_that_a_file_may_say_is_read() -> None:
    config = read(
        """
        [[agent]]
        id = "mine"
        bin = "tools/agent"
        args = ["--brief", "{{prompt}}", "-C", "{{workspace}}"]
        display_name = "Mine"
        cwd_mode = "flag"
        native_read_only = true
        network_args = ["--net"]

        [worktree]
        copy = [".env", "conf/local"]
        link = ["node_modules"]
        setup = ["make deps"]

        [policy]
        allowed = ["mine"]
        denied = ["codex"]
        max_parallel = 1
        default_isolation = "worktree"
        default_mode = "read-only"
        default_network = "off"
        default_timeout = "90s"
        allow_recursion = true
        allow_inplace_write = true
        max_depth = 0

        [models]
        mine = "large"

        [[role]]
        name = "tester"
        agents = ["mine"]
        mode = "write"
        timeout = 5000
        system_prompt_file = "roles/tester.md"
        model = "small"
        """
    )
    agent = config.agents[0]
    assert (agent.id, agent.bin, agent.cwd_mode, agent.line) == ("mine", "tools/agent", "flag", 2)
    assert agent.network_args == ("--net",)
    assert config.worktree.copy == (".env", "conf/local")
    assert config.policy == PolicyConfig(
        depth_is_given=True,
        allowed=("mine",),
        denied=("codex",),
        max_parallel=1,
        default_isolation="worktree",
        default_mode="read-only",
        default_network="off",
        default_timeout_ms=90_000,
        allow_recursion=True,
        allow_inplace_write=True,
        max_depth=0,
    )
    assert config.models == {"mine": "large"}
    role = config.roles[-1]
    assert (role.name, role.timeout_ms, role.isolation, role.model) == (
        "tester",
        5000,
        "auto",
        "small",
    )


def test_the_local_layer_wins_over_the_project_and_that_over_the_user(
    write: Write, tmp_path: Path
) -> None:
    write("home/.config/caesar/config.toml", "[policy]\nmax_depth = 7\nmax_parallel = 7\n")
    write(
        "p/.caesar/config.toml", MINIMAL + "[policy]\nmax_depth = 5\n[models]\na = '1'\nb = '1'\n"
    )
    write(
        "p/.caesar/config.local.toml",
        MINIMAL.replace("my-agent.sh", "other.sh") + "[models]\nb = '2'\n",
    )
    project, home = tmp_path / "p", tmp_path / "home"

    config = load_config(project, user_config=True, home=home)
    assert (config.policy.max_depth, config.policy.max_parallel) == (5, 7)
    assert [agent.bin for agent in config.agents] == ["other.sh"]
    assert [agent.bin for agent in config.shadowed] == ["my-agent.sh"]
    assert config.models == {"a": "1", "b": "2"}
    assert len(config.files) == 3

    assert load_config(project, home=home).policy.max_parallel == 4


def test_worktree_is_replaced_field_by_field() -> None:
    base = merge_config(Config(), '[worktree]\ncopy = ["a"]\nlink = ["b"]\n', file="1")
    config = merge_config(base, '[worktree]\nlink = []\nsetup = ["x"]\n', file="2")
    assert (config.worktree.copy, config.worktree.link, config.worktree.setup) == (
        ("a",),
        (),
        ("x",),
    )


def test_a_role_replaces_a_built_in_one_whole() -> None:
    config = read('[[role]]\nname = "reviewer"\nagents = []\nmode = "write"\n')
    assert len(config.roles) == len(BUILTIN_ROLES)
    assert config.roles[0].system_prompt_file is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            "[policy]\nmax_dept = 1\n",
            "config.toml:2: policy.max_dept: unknown key; known are allowed, denied, max_parallel, "
            "default_isolation, default_mode, default_network, default_timeout, allow_recursion, "
            "allow_inplace_write, max_depth, sandbox, "
            'sandbox_read, sandbox_write, hide, max_memory, max_processes; did you mean "max_depth"?',
            id="unknown-key",
        ),
        pytest.param(
            "\n[polcy]\n",
            "config.toml:2: polcy: unknown key; known are agent, worktree, policy, models, role; "
            'did you mean "policy"?',
            id="unknown-table",
        ),
        pytest.param(
            "[policy]\nmax_depth = '1'\n",
            'config.toml:2: policy.max_depth: found the string "1"; expected a whole number of '
            "at least 0",
            id="wrong-type",
        ),
        pytest.param(
            "[policy]\nmax_depth = true\n",
            "config.toml:2: policy.max_depth: found the boolean true; expected a whole number of "
            "at least 0",
            id="boolean",
        ),
        pytest.param(
            "[policy]\nmax_parallel = 0\n",
            "config.toml:2: policy.max_parallel: found 0; expected a whole number of at least 1",
            id="too-small",
        ),
        pytest.param(
            "[policy]\ndefault_mode = 'readonly'\n",
            'config.toml:2: policy.default_mode: found "readonly"; expected one of "read-only", '
            '"write"; did you mean "read-only"?',
            id="choice",
        ),
        pytest.param(
            "[policy]\ndefault_timeout = '1d'\n",
            "config.toml:2: policy.default_timeout: '1d' is not a duration: expected a whole "
            'number followed by ms, s, m or h, such as "90s" or "10m" (a bare number counts '
            "milliseconds)",
            id="duration",
        ),
        pytest.param(
            "[policy]\ndefault_timeout = 0\n",
            "config.toml:2: policy.default_timeout: found 0; expected a duration of more than 0",
            id="no-time",
        ),
        pytest.param(
            "[policy]\ndefault_timeout = '600h'\n",
            'config.toml:2: policy.default_timeout: found "600h"; expected a duration of at most '
            "596h",
            id="too-much-time",
        ),
        pytest.param(
            "[policy]\nmax_depth = 1\n[[agents]]\nid = 'a'\n",
            "config.toml:3: agents: unknown key; known are agent, worktree, policy, models, role; "
            'did you mean "agent"?',
            id="unknown-array",
        ),
        pytest.param(
            "[policy]\nallowed = ['a', 1]\n",
            "config.toml:2: policy.allowed: item 1 is the number 1; expected a list of strings",
            id="list-item",
        ),
        pytest.param(
            "policy = 1\n",
            "config.toml:1: policy: found the number 1; expected a table, written [policy]",
            id="not-a-table",
        ),
        pytest.param(
            "[agent]\nid = 'a'\n",
            "config.toml:1: agent: found a table; expected an array of tables, written [[agent]]",
            id="not-an-array",
        ),
        pytest.param(
            "[policy]\nmax_depth = 1.5\n",
            "config.toml:2: policy.max_depth: found the number 1.5; expected a whole number of "
            "at least 0",
            id="fraction",
        ),
        pytest.param(
            "[policy]\nallow_recursion = 'yes'\n",
            'config.toml:2: policy.allow_recursion: found the string "yes"; expected true or false',
            id="not-a-boolean",
        ),
        pytest.param(
            "[policy]\nallowed = 'codex'\n",
            'config.toml:2: policy.allowed: found the string "codex"; expected a list of strings',
            id="not-a-list",
        ),
        pytest.param(
            "[policy]\ndefault_network = [1]\n",
            'config.toml:2: policy.default_network: found a list of 1; expected one of "auto", '
            '"on", "off"',
            id="list-for-choice",
        ),
        pytest.param(
            "[[role]]\nname = 'r'\nagents = []\n",
            'config.toml:1: role[0].mode: missing; expected one of "read-only", "write"',
            id="missing-choice",
        ),
        pytest.param(
            "[[role]]\nname = 'r'\nmode = 'write'\n",
            "config.toml:1: role[0].agents: missing; expected a list of strings",
            id="missing-list",
        ),
        pytest.param(
            "[models]\ncodex = 2024-01-01\n",
            "config.toml:2: models.codex: found a date; expected a string",
            id="date",
        ),
        pytest.param(
            "[worktree]\ncopy = ['']\n",
            "config.toml:2: worktree.copy: a path is blank or holds a NUL character",
            id="blank-path",
        ),
        pytest.param(
            "[models]\ncodex = ' '\n",
            "config.toml:2: models.codex: it is blank; expected a string with something in it",
            id="blank-model",
        ),
        pytest.param(
            "[worktree]\ncopy = ['../x']\n",
            'config.toml:2: worktree.copy: "../x" leaves its folder; expected a relative path '
            "without ..",
            id="leaves",
        ),
        pytest.param(
            "[worktree]\nlink = ['./.git/hooks']\n",
            'config.toml:2: worktree.link: "./.git/hooks" lies in .git, which is not for placing '
            "files",
            id="git",
        ),
        pytest.param(
            "[worktree]\ncopy = ['.']\n",
            'config.toml:2: worktree.copy: "." is the whole repository; name a path in it',
            id="everything",
        ),
    ],
)
def test_a_mistake_is_named_with_file_line_key_found_and_expected(text: str, message: str) -> None:
    assert refusal(text) == message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param('id = "a b"', 'agent[0].id: found "a b"; expected letters', id="id"),
        pytest.param('id = "-a"', 'agent[0].id: found "-a"; expected letters', id="dash"),
        pytest.param('id = ""', 'agent[0].id: found ""; expected letters', id="empty"),
        pytest.param('bin = "  "', "agent[0].bin: it is blank", id="blank"),
        pytest.param('args = ["x"]', "agent[0].args: no argument holds {{prompt}}", id="no-prompt"),
        pytest.param(
            'args = ["{{prompt}}", "{{modle}}"]',
            "agent[0].args: unknown token {{modle}}; known are {{prompt}}, {{workspace}}, "
            '{{taskDir}}, {{reportPath}}, {{model}}, {{modelUrl}}; did you mean "model" or "modelUrl"?',
            id="token",
        ),
        pytest.param(
            'network_args = ["{{net}}"]',
            "agent[0].network_args: unknown token {{net}}",
            id="network-token",
        ),
        pytest.param('env = "x"', "agent[0].env: unknown key", id="unknown"),
    ],
)
def test_an_agent_that_could_not_run_is_refused_when_the_file_is_loaded(
    line: str, message: str
) -> None:
    key = line.split(" ", maxsplit=1)[0]
    lines = [old for old in MINIMAL.splitlines() if not old.startswith(f"{key} ")]
    text = "\n".join([*lines, line]) + "\n"
    found = refusal(text)
    assert message in found
    assert found.startswith(f"config.toml:{len(text.splitlines())}: ")


@pytest.mark.parametrize("key", ["id", "bin"])
def test_a_missing_key_is_reported_on_the_line_of_its_table(key: str) -> None:
    lines = [line for line in MINIMAL.splitlines() if not line.startswith(key)]
    assert refusal("\n".join(lines)) == (
        f"config.toml:1: agent[0].{key}: missing; expected a string"
    )


def test_the_same_id_twice_in_one_file_is_refused() -> None:
    assert refusal(MINIMAL + "\n" + MINIMAL) == (
        'config.toml:7: agent[1].id: "mine" is declared twice in this file (first on line 1)'
    )


def test_what_is_not_toml_names_the_line() -> None:
    assert refusal("[policy]\nmax_depth = \n").startswith("config.toml:2: not valid TOML: ")


def test_a_byte_order_mark_is_not_an_error(write: Write, tmp_path: Path) -> None:
    write(".caesar/config.toml", b"\xef\xbb\xbf" + MINIMAL.encode())
    assert load_config(tmp_path).agents[0].id == "mine"


def test_what_is_not_utf_8_names_the_line(write: Write, tmp_path: Path) -> None:
    file = write(".caesar/config.toml", b"[models]\na = '\xff'\n")
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path)
    assert str(caught.value) == f"{file}:2: not UTF-8, as TOML must be"


def test_a_folder_in_the_place_of_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / ".caesar" / "config.toml").mkdir(parents=True)
    with pytest.raises(ConfigError, match="not a regular file"):
        load_config(tmp_path)


def test_a_file_that_no_hand_wrote_is_not_read(write: Write, tmp_path: Path) -> None:
    write(".caesar/config.toml", b"#" * (MAX_CONFIG_BYTES + 1))
    with pytest.raises(ConfigError, match="larger than"):
        load_config(tmp_path)


def test_nesting_without_end_is_an_error_and_not_a_crash() -> None:
    assert "more than 64 brackets inside each other" in refusal("a = " + "[" * 20_000)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("\n[policy]\nmax_depth = " + "7" * 5000, 3, "a number of 5000 characters"),
        ("max_depth = 0x" + "f" * 5000, 1, "a number of 5002 characters"),
        ("a" + ".a" * 50_000 + " = 1", 1, "a key of more than 32 parts"),
        ("[" + "a . " * 40 + "a]", 1, "a key of more than 32 parts"),
        ('"x"' + ".'y'" * 40 + " = 1", 1, "a key of more than 32 parts"),
        ("\n".join(f"k{n}" + ".a" * 30 + " = 1" for n in range(20_000)), 209, "more dotted keys"),
        ("a = " + "[" * 30_000, 1, "more than 64 brackets"),
        ("a = " + "{b=" * 30_000, 1, "more than 64 brackets"),
    ],
    ids=["number", "hexadecimal", "key", "header", "quoted", "sum", "arrays", "tables"],
)
def test_what_its_reader_takes_too_long_for_is_refused(text: str, line: int, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        merge_config(Config(), text, file="c.toml")
    assert str(caught.value).startswith(f"c.toml:{line}: ")
    assert problem in str(caught.value)


def test_texts_and_comments_are_no_keys_and_no_numbers() -> None:
    words = ".".join(["abc"] * 100) + "9" * 500 + "[" * 100
    text = (
        f'[[agent]] # {words}\nid = "a"\nbin = "b"\ndisplay_name = "{words} \\" {words}"\n'
        f"args = [\"{{{{prompt}}}}\", '{words}', '''\n{words}\n''', \"\"\"{words}\"\"\"]\n"
    )
    assert merge_config(Config(), text, file="c.toml").agents[0].display_name.startswith("abc.abc")


def test_many_agents_are_read_in_time_that_grows_with_their_number() -> None:
    text = "".join(
        f'[[agent]]\nid = "a{number}"\nbin = "b"\nargs = ["{{{{prompt}}}}"]\n'
        for number in range(3000)
    )
    agents = merge_config(Config(), text, file="c.toml").agents
    assert [agent.line for agent in (*agents[:2], agents[-1])] == [1, 5, 11_997]


def test_a_line_break_in_a_key_begins_no_line_of_its_own() -> None:
    with pytest.raises(ConfigError) as caught:
        merge_config(Config(), '"k\\n::error::x" = 1\n', file="c.toml")
    assert "\n" not in str(caught.value)
