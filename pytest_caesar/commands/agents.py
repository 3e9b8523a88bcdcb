"""``pytest-caesar agents``: show all that can be run."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from caesar_agent.console import printable
from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.agents.inventory import Entry, take_inventory
from pytest_caesar.agents.paths import absolute
from pytest_caesar.agents.selection_context import Place, search_path
from pytest_caesar.commands.help_texts import in_options

_MARKERS = (".caesar", ".git")
_TITLES = {
    "config": "[[agent]] entries of the configuration",
    "catalogue": "known CLIs",
    "definition": "agent definitions",
}

_LEGEND = "+ can be run by its name, - cannot: the line below it says why"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "agents",
        help="show all that can be run",
        description="List every agent that can be selected by name: where it comes from, what "
        "it hides or is hidden by, and whether its command is there.",
    )
    parser.add_argument(
        "--project",
        metavar="DIR",
        type=Path,
        help="root of the project (default: the nearest folder with .caesar or .git)",
    )
    parser.add_argument(
        "--user-config",
        action="store_true",
        help="count the user's own configuration, definitions and plugins too",
    )
    parser.add_argument(
        "--runner", metavar="NAME", help="what runs agent definitions, as for --caesar-runner"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the list; 0 also when something cannot be run, since that is what is asked."""
    here = Path.cwd()
    place = Place(
        project=_project(here) if args.project is None else absolute(str(args.project), here),
        start=here,
        path=search_path(os.environ),
        user_config=args.user_config,
        home=Path(os.environ["HOME"]) if os.environ.get("HOME") else None,
        runner=args.runner,
        config_dir=os.environ.get("PI_CONFIG_DIR"),
    )
    entries, diagnostics = take_inventory(place)
    if args.json:
        text = json.dumps(
            {
                "project": str(place.project),
                "agents": [entry.as_dict() for entry in entries],
                "diagnostics": [diagnostic.as_dict() for diagnostic in diagnostics],
            },
            indent=2,
        )
    else:
        text = "\n".join(printable(line) for line in render(entries, diagnostics))
    sys.stdout.write(text + "\n")
    return 0


def render(entries: tuple[Entry, ...], diagnostics: tuple[Diagnostic, ...]) -> list[str]:
    """Return the lines for people: one block for each kind, findings last."""
    lines: list[str] = []
    width = max((len(entry.name) for entry in entries), default=0)
    for kind, title in _TITLES.items():
        block = [entry for entry in entries if entry.kind == kind]
        if not block:
            continue
        lines += ["", f"{title}:"] if lines else [f"{title}:"]
        for entry in block:
            mark = "+" if entry.runnable else "-"
            lines.append(f"  {mark} {entry.name:<{width}}  {_about(entry)}")
            lines += [f"    {'':<{width}}  {note}" for note in _notes(entry)]
    lines += ["", _LEGEND]
    if diagnostics:
        lines += ["", "findings:"]
        lines += [_finding(diagnostic) for diagnostic in diagnostics]
    return lines


def _about(entry: Entry) -> str:
    if entry.kind == "catalogue":
        checked = f"checked with {entry.checked}" if entry.checked else "not checked"
        return f"{entry.description} ({checked}): {entry.command}"
    if entry.kind == "definition":
        return f"{entry.origin}: {entry.where}"
    return f"{entry.command} ({entry.where})"


def _notes(entry: Entry) -> list[str]:
    notes = [in_options(entry.problem)] if entry.problem else []
    if entry.shadowed_by:
        notes.append(f"hidden by {entry.shadowed_by}")
    notes += [f"hides {file}" for file in entry.shadows]
    if entry.clashes:
        notes.append(f"the same name is also: {', '.join(entry.clashes)}; rename one of them")
    return notes


def _finding(diagnostic: Diagnostic) -> str:
    place = diagnostic.path or ""
    if diagnostic.line is not None:
        place += f":{diagnostic.line}"
    return f"  {place}: {diagnostic.message} [{diagnostic.code}]"


def _project(here: Path) -> Path:
    for folder in (here, *here.parents):
        if any((folder / marker).exists() for marker in _MARKERS):
            return folder
    return here
