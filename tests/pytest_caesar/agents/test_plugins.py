from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_caesar.agents.discovery import discover_agents
from pytest_caesar.agents.plugins import list_plugin_roots, plugin_registry
from tests.pytest_caesar.agents.conftest import Write

REGISTRY = ".claude/plugins/installed_plugins.json"


def register(write: Write, plugins: Any, version: Any = 2) -> None:
    write(REGISTRY, json.dumps({"version": version, "plugins": plugins}))


def messages(home: Path) -> list[str]:
    return [finding.message for finding in list_plugin_roots(home)[1]]


def test_every_installation_is_listed_the_projects_first(write: Write, tmp_path: Path) -> None:
    register(
        write,
        {
            "one@market": [
                {"scope": "user", "installPath": "/p/1"},
                {"scope": "project", "installPath": "/p/2", "version": "3", "projectPath": "/x"},
            ],
            "@scoped/two@market": [
                {"installPath": "/p/3"},
                {"scope": "local", "installPath": "/p/4"},
            ],
        },
    )
    roots, findings = list_plugin_roots(tmp_path)
    assert findings == ()
    assert [(str(root.path), root.plugin, root.source) for root in roots] == [
        ("/p/2", "one", "project"),
        ("/p/1", "one", "user"),
        ("/p/3", "@scoped/two", "user"),
        ("/p/4", "@scoped/two", "user"),
    ]
    assert (roots[0].version, roots[0].project_path, roots[1].version) == ("3", "/x", "unknown")


@pytest.mark.parametrize("text", [None, "", " \n"])
def test_a_registry_that_is_absent_or_empty_is_no_finding(
    text: str | None, write: Write, tmp_path: Path
) -> None:
    if text is not None:
        write(REGISTRY, text)
    assert list_plugin_roots(tmp_path) == ((), ())


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "null",
        '{"version": 1}',
        '{"version": "1", "plugins": {}}',
        '{"plugins": {}}',
        '{"version": true, "plugins": {}}',
        '{"version": 1, "plugins": []}',
        "[" * 100_000,
    ],
    ids=range(9),
)
def test_a_registry_that_is_none_is_told(text: str, write: Write, tmp_path: Path) -> None:
    write(REGISTRY, text)
    assert messages(tmp_path) == [
        f"Failed to parse Claude Code plugin registry: {tmp_path / REGISTRY}"
    ]


def test_a_byte_order_mark_is_dropped_here(write: Write, tmp_path: Path) -> None:
    write(REGISTRY, '\ufeff{"version": 1, "plugins": {"a@m": [{"installPath": "/p"}]}}')
    assert len(list_plugin_roots(tmp_path)[0]) == 1


def test_entries_that_say_too_little_are_told(write: Write, tmp_path: Path) -> None:
    register(
        write,
        {
            "plain": [{"installPath": "/p"}],
            "old@m": {"installPath": "/p"},
            "none@m": [],
            "a@m": [None, {}, {"installPath": ""}, {"installPath": 7}],
        },
    )
    assert messages(tmp_path) == [
        "Invalid plugin ID format (missing @marketplace): plain",
        *["Plugin a@m entry has no installPath"] * 4,
    ]


def test_agents_of_plugins_come_after_all_families_and_before_the_bundled(
    write: Write, tmp_path: Path
) -> None:
    write(".gemini/agents/g.md", "---\nname: g\ndescription: d\n---\n")
    write("plug/agents/p.md", "---\nname: p\ndescription: d\n---\n")
    register(write, {"plug@m": [{"scope": "user", "installPath": str(tmp_path / "plug")}]})
    (tmp_path / "w").mkdir()
    discovery = discover_agents(tmp_path / "w", tmp_path, stop_at=tmp_path / "w")
    assert discovery.names[:3] == ("g", "p", "explore")
    found = discovery.get("p")
    assert found is not None
    assert found.folder is not None
    assert (found.agent.source, found.folder.plugin) == ("user", "plug@m")


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({}, ""),
        ({"projectPath": "{project}"}, ""),
        ({"projectPath": "/elsewhere"}, "was installed for /elsewhere, and its agents count here"),
        ({"installPath": "/no/such/folder"}, "is registered at /no/such/folder, and there is no"),
    ],
)
def test_plugins_that_are_not_what_one_expects_are_told(
    tmp_path: Path, entry: dict[str, str], told: str
) -> None:
    project, plugin = tmp_path / "project", tmp_path / "plugin"
    project.mkdir()
    plugin.mkdir()
    entry = {key: value.format(project=project) for key, value in entry.items()}
    registry = plugin_registry(tmp_path)
    registry.parent.mkdir(parents=True)
    plugins = {"one@market": [{"installPath": str(plugin), **entry}]}
    registry.write_text(json.dumps({"version": 1, "plugins": plugins}))
    found = discover_agents(project, tmp_path, stop_at=project).diagnostics
    assert [one.code for one in found] == (["plugin-registry"] if told else [])
    assert told in "".join(one.message for one in found)
