"""From ``module:function`` to the function."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_caesar.supervision.start_errors import AgentStartError


class TargetError(AgentStartError):
    """A Python function that was to be an agent cannot be had."""


class ModuleNotImportedError(TargetError):
    """Its module does not exist, or fails while it is imported."""


class FunctionMissingError(TargetError):
    """The module has no such function, or what it has cannot be called."""


def load_function(target: str, import_root: str) -> Callable[..., Any]:
    """Import a module and return a function of it.

    Args:
        target: ``package.module:function``; the part after the colon may be dotted.
        import_root: folder searched first; "" for none. It stays at the head of
            ``sys.path``.

    Raises:
        TargetError: a subclass says what is wrong.
    """
    module_name, _, function_name = target.partition(":")
    if not module_name or not function_name:
        raise FunctionMissingError(
            program=target,
            cwd=import_root,
            reason=f"{target!r} does not name a function",
            remedy="Write it as package.module:function.",
        )
    if import_root and (not sys.path or sys.path[0] != import_root):
        sys.path.insert(0, import_root)
    module = _import(module_name, target, import_root)
    found: Any = module
    for name in function_name.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:  # noqa: PERF203 - the first that is missing ends it
            raise FunctionMissingError(
                program=target,
                cwd=import_root,
                reason=f"{module_name} ({_where(module)}) has no {function_name!r}",
                remedy=_suggest(module),
            ) from None
    if not callable(found):
        raise FunctionMissingError(
            program=target,
            cwd=import_root,
            reason=f"{target} is of type {type(found).__name__}, which cannot be called",
            remedy="Name a function that takes the agent and returns a report.",
        )
    function: Callable[..., Any] = found
    return function


def _import(name: str, target: str, import_root: str) -> ModuleType:
    _refuse_shadowed(name, target, import_root)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or name
        if name == missing or name.startswith(f"{missing}."):
            reason = f"there is no module {missing!r}"
            where = f" {import_root} and" if import_root else ""
            remedy = f"It is looked for in{where} the folders of sys.path: check the name."
        else:
            reason = f"{name} imports {missing!r}, which is not installed"
            remedy = "Install it into the Python that runs pytest."
        raise ModuleNotImportedError(
            program=target, cwd=import_root, reason=reason, remedy=remedy
        ) from error
    except SystemExit as error:
        raise ModuleNotImportedError(
            program=target,
            cwd=import_root,
            reason=f"{name} exits while it is imported ({_place(error, import_root)})",
            remedy='Put what runs or exits there below `if __name__ == "__main__":`.',
        ) from error
    except Exception as error:
        problem = error.msg if isinstance(error, SyntaxError) else error
        raise ModuleNotImportedError(
            program=target,
            cwd=import_root,
            reason=(
                f"{name} fails while it is imported: "
                f"{type(error).__name__}: {problem} ({_place(error, import_root)})"
            ),
            remedy="Make sure that `import " + name + "` works.",
        ) from error


def _place(error: BaseException, import_root: str) -> str:
    """Name the line to look at: the last one of the agent's own, where there is one."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if _is_own(Path(frame.filename), import_root)]
    last = (own or frames)[-1]
    return f"{last.filename}:{last.lineno}"


def _is_own(file: Path, import_root: str) -> bool:
    return (
        bool(import_root)
        and file.is_relative_to(import_root)
        and not {"site-packages", "dist-packages"}.intersection(file.parts)
    )


def _refuse_shadowed(name: str, target: str, import_root: str) -> None:
    """Refuse to run another file than the one meant, which was imported under that name before."""
    top = name.partition(".")[0]
    loaded = sys.modules.get(top)
    if loaded is None or not import_root:
        return
    spec = importlib.machinery.PathFinder.find_spec(top, [import_root])
    origin = spec.origin if spec is not None else None
    there = getattr(loaded, "__file__", None)
    if origin is None or there is None or _same_file(origin, there):
        return
    raise ModuleNotImportedError(
        program=target,
        cwd=import_root,
        reason=f"a module {top!r} was imported before from {there}, and {origin} is meant",
        remedy="Give one of the two another name, or use --caesar-subprocess.",
    )


def _same_file(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other)
    except OSError:
        return one == other


def _where(module: ModuleType) -> str:
    return getattr(module, "__file__", None) or "built in"


def _suggest(module: ModuleType) -> str:
    names = sorted(
        name
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
    )
    if not names:
        return "It defines no function at all."
    return f"It defines {', '.join(names[:8])}."
