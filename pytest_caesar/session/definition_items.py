"""Agent definitions as test items: ``--caesar-definitions``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from caesar_agent.console import printable
from pytest_caesar.agents.definition_files import check_paths, definition_folders
from pytest_caesar.agents.definitions import AgentParsingError, parse_agent
from pytest_caesar.agents.discovery import FAMILIES, read_definition

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

    from pytest_caesar.agents.checks.complaint import Complaint

OPTION = "--caesar-definitions"
FOLDER = "agents"
"""Name of the folders in which hosts look for definitions."""

_SUFFIX = ".md"
_PLUGIN = Path(".claude-plugin", "plugin.json")


class Definitions:
    """Collects definitions; registered when the option is used.

    What counts as a definition: a markdown file below ``<family>/agents`` or below the
    ``agents`` folder of a plugin, wherever the tests are looked for; below a folder of the
    ini file; below an argument that lies in an ``agents`` folder; and one that is named
    itself. Nothing else, so that ordinary pages are left in peace.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._root = config.rootpath
        self._start = config.invocation_params.dir
        self._configured = tuple(config.getini("caesar_definitions"))
        self._found = False
        self._entry: str = config.getini("caesar_main_spawns").strip()
        self._checked: dict[tuple[Path, ...], dict[Path, tuple[Complaint, ...]]] = {}
        if config.args_source is not pytest.Config.ArgsSource.ARGS:
            # Without a path only definitions are checked, as with the conformance kit.
            config.args[:] = [str(folder) for folder in self._default_folders()]
        self._named = self._arguments(config.args)

    def _default_folders(self) -> tuple[Path, ...]:
        for folder in self._configured:
            if not folder.is_dir():
                raise pytest.UsageError(
                    f"caesar_definitions names {folder}, which is no folder; "
                    "paths start at the folder of the ini file"
                )
        folders = self._configured or definition_folders(self._root)
        if not folders:
            looked = ", ".join(f"{family}/{FOLDER}" for family in FAMILIES)
            raise pytest.UsageError(
                f"{OPTION}: there are no agent definitions in {self._root} (looked for {looked}); "
                "give their folder as an argument, or in the ini file under caesar_definitions"
            )
        return folders

    def _arguments(self, arguments: Sequence[str]) -> tuple[Path, ...]:
        """Return what was named and holds definitions, or is one."""
        paths = (
            Path(os.path.normpath(self._start / argument.partition("::")[0]))
            for argument in arguments
        )
        return tuple(
            path
            for path in paths
            if path.suffix == _SUFFIX or FOLDER in (path.name, *(p.name for p in path.parents))
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Enter the hidden folders of the families, for their definitions alone."""
        below = self._below_family(collection_path)
        if below is None:
            return None
        if not below:
            return False if (collection_path / FOLDER).is_dir() else None
        if below[0] != FOLDER:
            return True
        return not (collection_path.suffix == _SUFFIX or collection_path.is_dir())

    def _below_family(self, path: Path) -> tuple[str, ...] | None:
        """Return the parts below a family's folder; None where there is none.

        Only what lies below the rootdir counts: a project may be checked out anywhere.
        """
        if not path.is_relative_to(self._root):
            return None
        parts = path.relative_to(self._root).parts
        for index, part in enumerate(parts):
            if part in FAMILIES:
                return parts[index + 1 :]
        return None

    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> DefinitionFile | None:
        """Make a collector for a definition."""
        if file_path.suffix != _SUFFIX:
            return None
        group = self._group(file_path)
        if group is None:
            return None
        collector: DefinitionFile = DefinitionFile.from_parent(parent, path=file_path)
        collector.definitions, collector.group = self, group
        self._found = True
        return collector

    def _group(self, file: Path) -> tuple[Path, ...] | None:
        """Return the folders whose definitions know each other; None for what is none."""
        for folder in file.parents:
            if folder.name != FOLDER:
                continue
            if folder.parent.name in FAMILIES:
                return definition_folders(folder.parent.parent)
            if (folder.parent / _PLUGIN).is_file():
                return (folder,)
        for folder in self._configured:
            if folder in file.parents:
                return self._configured
        for path in self._named:
            if path == file:
                return (file.parent,)
            if path in file.parents:
                return (path,)
        return None

    def pytest_terminal_summary(
        self, terminalreporter: TerminalReporter, exitstatus: pytest.ExitCode
    ) -> None:
        """Say what counts where nothing was found."""
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and not self._found:
            terminalreporter.write_line(
                f"{OPTION}: no definition was found. Looked at are {'/agents, '.join(FAMILIES)}"
                f"/agents and agents/ beside {_PLUGIN} below the arguments, and arguments that "
                "lie in an agents folder or are a file themselves"
            )

    def complaints(self, file: Path, group: tuple[Path, ...]) -> tuple[Complaint, ...] | None:
        """Return what is wrong with a file; None when it cannot be read.

        Every file of a group is checked once a session, since some faults show only
        between files.
        """
        if group not in self._checked:
            self._checked[group] = check_paths(group, relative_to=self._root, entry=self._entry)
        return self._checked[group].get(file)


class DefinitionFile(pytest.File):
    """One markdown file.

    Attributes:
        definitions: what collects it.
        group: folders of the definitions that belong together with it.
    """

    definitions: Definitions
    group: tuple[Path, ...]

    def collect(self) -> Iterator[DefinitionItem]:
        """Make the one item of the file."""
        yield DefinitionItem.from_parent(self, name="definition")


class DefinitionItem(pytest.Item):
    """The check of one definition, alone and together with the others."""

    parent: DefinitionFile

    def __init__(self, **more: object) -> None:
        super().__init__(**more)  # type: ignore[arg-type]
        name = _agent_name(self.path)
        if name:
            self.extra_keyword_matches.add(name)

    def runtest(self) -> None:
        """Fail with every error; keep the notes for whoever asks for them."""
        found = self.parent.definitions.complaints(self.path, self.parent.group)
        if found is None:
            pytest.fail(
                f"{self._shown()}: it cannot be read, so the host skips it without a word\n"
                "  mend: make it a regular file that may be read",
                pytrace=False,
            )
        notes = [complaint.as_text() for complaint in found if complaint.severity == "note"]
        if notes:
            self.add_report_section("call", "notes on the definition", "\n".join(notes))
        errors = [complaint.as_text() for complaint in found if complaint.severity == "error"]
        if errors:
            pytest.fail("\n".join(errors), pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Name the file."""
        return self.path, None, f"definition {self._shown()}"

    def _shown(self) -> str:
        root = self.config.rootpath
        path = self.path.relative_to(root) if self.path.is_relative_to(root) else self.path
        return printable(str(path))


def _agent_name(file: Path) -> str:
    """Return the name in a definition, so that ``-k`` finds it by that too."""
    try:
        return parse_agent(read_definition(file), location=str(file)).name
    except (OSError, AgentParsingError):
        return ""
