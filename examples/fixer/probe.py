"""Run the tests of the current folder with nothing but the standard library.

Finds ``unittest`` classes and plain ``test_…`` functions without arguments, runs them,
and writes what came of each as JSON: outcome, error, the frames of the error, and, where
asked for, the lines of the project that ran meanwhile. Started by agent.py, in a process
of its own, because it imports the project.

    python probe.py RESULTS.json [--lines] [FILE_OR_TEST_ID …]
"""

import importlib
import importlib.util
import inspect
import json
import sys
import traceback
import unittest
from pathlib import Path

ROOT = Path.cwd().resolve()
SKIPPED = {"node_modules", "venv", "build", "dist", "site-packages"}


def is_test(path):
    """Whether a file holds tests, or what only tests need."""
    path = Path(path)
    return path.name.startswith(("test", "conftest")) or path.stem.endswith("_test")


def test_files():
    for path in sorted(ROOT.rglob("*.py")):
        folders = path.relative_to(ROOT).parts[:-1]
        hidden = any(part.startswith(".") or part in SKIPPED for part in folders)
        if is_test(path) and not hidden:
            yield path


def load(path):
    """Import a test file under the name that its own imports expect."""
    top = path.parent
    while (top / "__init__.py").exists() and top != ROOT:
        top = top.parent
    for folder in (ROOT, ROOT / "src", top):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    if top != path.parent:
        return importlib.import_module(".".join(path.relative_to(top).with_suffix("").parts))
    name = "_".join(path.relative_to(ROOT).with_suffix("").parts)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def cases(path):
    """Return the tests of one file: id and what to run."""
    shown = path.relative_to(ROOT).as_posix()
    module = load(path)
    for case in flatten(unittest.defaultTestLoader.loadTestsFromModule(module)):
        yield f"{shown}::{type(case).__name__}::{case.id().rpartition('.')[2]}", case
    for name, function in vars(module).items():
        plain = inspect.isfunction(function) and function.__module__ == module.__name__
        if plain and name.startswith("test") and not inspect.signature(function).parameters:
            yield f"{shown}::{name}", unittest.FunctionTestCase(function)


def flatten(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


class Tracer:
    """The lines of the project, tests excepted, that run while it is on."""

    def __init__(self):
        self.lines = set()
        self._known = {}

    def __enter__(self):
        sys.settrace(self._call)

    def __exit__(self, *_):
        sys.settrace(None)

    def _call(self, frame, _event, _argument):
        name = frame.f_code.co_filename
        if name not in self._known:
            self._known[name] = project_file(name)
        return self._line if self._known[name] else None

    def _line(self, frame, event, _argument):
        if event == "line":
            self.lines.add((self._known[frame.f_code.co_filename], frame.f_lineno))
        return self._line


def project_file(name):
    """Return the path of a file of the project below its root; None for any other."""
    if not Path(name).is_absolute():
        return None  # "<string>", "<frozen codecs>"
    try:
        path = Path(name).resolve().relative_to(ROOT)
    except (ValueError, OSError):
        return None
    return None if is_test(path) or path.parts[0].startswith(".") else path.as_posix()


def describe(error):
    frames = [
        (project_file(frame.filename), frame.lineno)
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    return {
        "error": type(error).__name__,
        "message": str(error)[:300],
        "frames": [frame for frame in frames if frame[0]],
    }


class Result(unittest.TestResult):
    """Keeps the exception itself, where unittest keeps its text."""

    problem = None

    def addError(self, test, err):  # noqa: N802, ARG002 - as unittest calls it
        self.problem = err[1]

    addFailure = addError  # noqa: N815 - as above

    def addSubTest(self, test, subtest, err):  # noqa: N802, ARG002 - as above
        if err is not None:
            self.problem = err[1]


def run(case, *, lines):
    tracer, result = Tracer(), Result()
    if lines:
        with tracer:
            case.run(result)
    else:
        case.run(result)
    test = {"passed": result.problem is None, "lines": sorted(tracer.lines)}
    return test if result.problem is None else test | describe(result.problem)


def main(results, wanted, *, lines):
    # An edit may come within the same second as the one before, and be of the same size:
    # bytecode of the project that lies about must not be taken for it.
    sys.pycache_prefix = results + ".cache"
    tests = {}
    for path in test_files():
        file = path.relative_to(ROOT).as_posix()
        if wanted and not any(name.partition("::")[0] == file for name in wanted):
            continue
        try:
            found = list(cases(path))
        except Exception as error:  # noqa: BLE001 - a file that cannot be imported fails
            tests[file] = {"passed": False, "lines": []} | describe(error)
            continue
        for name, case in found:
            if not wanted or name in wanted or file in wanted:
                tests[name] = run(case, lines=lines)
    Path(results).write_text(json.dumps(tests), encoding="utf-8")
    failed = {name: test for name, test in tests.items() if not test["passed"]}
    for name, test in failed.items():
        print(f"FAILED {name}: {test['error']}: {test['message']}".rstrip(": "))
    print(f"{len(tests)} tests, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    words = sys.argv[2:]
    sys.exit(main(sys.argv[1], set(words) - {"--lines"}, lines="--lines" in words))
