"""Find ``module:function`` without importing it: the import belongs to the run."""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_caesar.agents.errors import near_miss, shown

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

COMMON = frozenset({"main", "run", "agent"})
"""Names of functions that tell no agent from another."""

_SHAPE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFunction:
    """Where a function was found, or why not.

    Attributes:
        origin: file of the module, or "" for one without a file.
        problem: what is wrong, or "".
    """

    origin: str = ""
    problem: str = ""


def looks_like_function(text: str) -> bool:
    """Say whether text has the shape ``package.module:function``."""
    return _SHAPE.fullmatch(text) is not None


def name_of_function(text: str) -> str:
    """Return what people would call the agent: the function, or the module of a ``main``.

    So ``./reviewer.py``, ``python -m reviewer`` and ``reviewer:main`` are called the same.
    """
    module, _, function = text.partition(":")
    if function.rpartition(".")[2] not in COMMON:
        return function
    return module.removesuffix(".__main__").rpartition(".")[2]


def find_function(text: str, import_root: Path) -> FoundFunction:
    """Look for a function in the module that ``import_root`` and ``sys.path`` give.

    Nothing of the user's is executed: packages are searched by their folders, and
    names are read from the source. A module whose names are made while it runs
    (star imports, ``__getattr__``, ``globals()``) is given the benefit of the doubt.
    """
    module, _, function = text.partition(":")
    spec = _find_module(module, [str(import_root), *sys.path])
    if spec is None:
        if module.split(".")[0] in sys.builtin_module_names:
            return FoundFunction()
        return FoundFunction(
            problem=f"there is no module {shown(module)} (looked for in {import_root} and on "
            f"sys.path){meant_function(text, import_root) or _near_module(module, import_root)}"
        )
    origin = spec.origin or ""
    if not origin.endswith(".py"):
        return FoundFunction(origin=origin)
    try:
        source = Path(origin).read_bytes()
        tree = ast.parse(source)
    except (OSError, SyntaxError, ValueError):
        return FoundFunction(origin=origin)  # the import will tell, with the line
    name = function.split(".")[0]
    names = _top_level_names(tree)
    if name in names or "*" in names or "__getattr__" in names or b"globals()" in source:
        return FoundFunction(origin=origin)
    return FoundFunction(
        origin=origin,
        problem=f"the module {shown(module)} ({origin}) has no {shown(name)}"
        + near_miss(name, names),
    )


def meant_function(text: str, root: Path) -> str:
    """Return ``; did you mean "module:function"?`` where the file of a module was named, or ""."""
    file, _, function = text.partition(":")
    path = Path(file.removesuffix(".py"))
    module = ".".join(path.parts)
    if not looks_like_function(f"{module}:{function}"):
        return ""
    try:
        there = (root / f"{path}.py").is_file()
    except OSError:  # a name that is too long
        return ""
    return f"; did you mean {shown(f'{module}:{function}')}?" if there else ""


def _find_module(module: str, path: list[str]) -> ModuleSpec | None:
    spec: ModuleSpec | None = None
    search: list[str] | None = path
    for part in module.split("."):
        if search is None:
            return None
        # Under its dotted name a namespace package would need its parent imported.
        spec = PathFinder.find_spec(part, search)
        if spec is None:
            return None
        folders = spec.submodule_search_locations
        search = None if folders is None else list(folders)
    return spec


def _near_module(module: str, import_root: Path) -> str:
    folder = import_root.joinpath(*module.split(".")[:-1])
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return ""
    names = {e.stem for e in entries if e.suffix == ".py" or (e.is_dir() and e.name.isidentifier())}
    return near_miss(module.rpartition(".")[2], sorted(names - {"__init__"}))


def _top_level_names(tree: ast.Module) -> set[str]:
    """Return what a module binds at its top level, inside ``if`` and ``try`` too."""
    names: set[str] = set()
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
            continue
        for child in ast.walk(node):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                names.add(child.id)
        for field in ("body", "orelse", "finalbody"):
            waiting.extend(getattr(node, field, ()))
        for handler in getattr(node, "handlers", ()):
            waiting.extend(handler.body)
    return names
