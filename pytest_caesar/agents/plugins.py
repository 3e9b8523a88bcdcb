"""Where plugins of Claude Code have their folders, from the registry in the user's home."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from caesar_agent.console import printable
from caesar_agent.diagnostics import Diagnostic

MAX_REGISTRY_BYTES = 16 << 20
"""Thousands of plugins fit; what is larger is not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRoot:
    """One installation of a plugin.

    Attributes:
        plugin: name without its marketplace.
        marketplace: what follows the last ``@`` of its id.
        scope: ``project``, ``user``, or what the registry says.
        version: as the registry says, ``unknown`` by default.
        path: its folder, as the registry says; whether it exists was not looked at.
        project_path: the project it was installed for, or "".
    """

    plugin: str
    marketplace: str
    scope: str
    version: str
    path: Path
    project_path: str = ""

    @property
    def source(self) -> Literal["project", "user"]:
        """Who its agents belong to."""
        return "project" if self.scope == "project" else "user"


def plugin_registry(home: Path) -> Path:
    """Return the path of the registry."""
    return home / ".claude" / "plugins" / "installed_plugins.json"


def list_plugin_roots(home: Path) -> tuple[tuple[PluginRoot, ...], tuple[Diagnostic, ...]]:
    """Read the registry of installed plugins.

    Args:
        home: the user's folder.

    Returns:
        Installations, project scope first, otherwise in the order of the file; and what
        is wrong with it. A registry that is absent or empty is no finding.
    """
    file = plugin_registry(home)
    try:
        if not file.is_file() or file.stat().st_size > MAX_REGISTRY_BYTES:
            return (), ()
        text = file.read_bytes().decode("utf-8-sig", "replace")
    except OSError:
        return (), ()
    if not text.strip():
        return (), ()
    try:
        registry = json.loads(text)
    except (ValueError, RecursionError):
        registry = None
    plugins = registry.get("plugins") if isinstance(registry, dict) else None
    version = registry.get("version") if isinstance(registry, dict) else None
    numbered = isinstance(version, (int, float)) and not isinstance(version, bool)
    if not isinstance(plugins, dict) or not numbered:
        return (), (_finding(f"Failed to parse Claude Code plugin registry: {file}", file),)
    return _roots(plugins, file)


def _roots(
    plugins: dict[str, Any], file: Path
) -> tuple[tuple[PluginRoot, ...], tuple[Diagnostic, ...]]:
    roots: list[PluginRoot] = []
    findings: list[Diagnostic] = []
    for ident, entries in plugins.items():
        if not isinstance(entries, list) or not entries:
            continue  # the first form of the file, or nothing installed
        plugin, at, marketplace = ident.rpartition("@")
        if not at:
            findings.append(
                _finding(f"Invalid plugin ID format (missing @marketplace): {ident}", file)
            )
            continue
        for entry in entries:
            path = entry.get("installPath") if isinstance(entry, dict) else None
            if not isinstance(path, str) or not path or "\0" in path:
                findings.append(_finding(f"Plugin {ident} entry has no installPath", file))
                continue
            roots.append(
                PluginRoot(
                    plugin=plugin,
                    marketplace=marketplace,
                    scope=_text(entry, "scope", "user"),
                    version=_text(entry, "version", "unknown"),
                    path=Path(path),
                    project_path=_text(entry, "projectPath", ""),
                )
            )
    roots.sort(key=lambda root: root.scope != "project")
    return tuple(roots), tuple(findings)


def _text(entry: dict[str, Any], key: str, default: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) and value else default


def _finding(message: str, file: Path) -> Diagnostic:
    return Diagnostic(code="plugin-registry", message=printable(message), path=str(file))
