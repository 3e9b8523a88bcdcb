"""Run the tests of the current folder, and write what came of each.

With pytest where the project uses it and it is installed, else with nothing but the
standard library: then ``unittest`` classes and plain ``test_…`` functions without
arguments are run. What came of each is written as JSON: outcome, error, the frames of the error, and, where
asked for, the lines of the project that ran meanwhile. Started by agent.py, in a process
of its own, because it imports the project.

    python probe.py RESULTS.json [--lines] [FILE_OR_TEST_ID …]
"""

import contextlib
import importlib
import importlib.util
import inspect
import json
import re
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


def distrust_bytecode():
    """Let the project be compiled anew, and nothing that was imported before.

    An edit may come within the same second as the one before, and be of the same size:
    bytecode that lies about must not be taken for it.
    """
    sys.pycache_prefix = "/dev/null/none"


def run_files(wanted, *, lines):
    """Run tests with the standard library."""
    distrust_bytecode()
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
    return tests


def uses_pytest():
    """Whether the tests are written for pytest, and it is there."""
    if importlib.util.find_spec("pytest") is None:
        return False
    files = [*test_files(), ROOT / "pytest.ini", ROOT / "pyproject.toml"]
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in files if path.exists())
    return any(
        re.search(r"^(import|from) pytest\b|^\[(tool\.)?pytest", text, re.MULTILINE)
        for text in texts
    )


def run_pytest(wanted, *, lines):
    """Run tests with pytest."""
    import pytest  # noqa: PLC0415 - it may not be installed

    tests = {}

    class Recorder:
        @pytest.hookimpl(tryfirst=True)
        def pytest_load_initial_conftests(self):
            distrust_bytecode()

        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_call(self, item):
            tracer = Tracer()
            try:
                with tracer if lines else contextlib.nullcontext():
                    return (yield)
            finally:
                of(item.nodeid)["lines"] = sorted(tracer.lines)

        def pytest_exception_interact(self, node, call):
            # For tests, their fixtures, and files that cannot be imported.
            of(node.nodeid).update(describe(call.excinfo.value), passed=False)

    def of(name):
        return tests.setdefault(name, {"passed": True, "lines": []})

    # The project's own additions, such as running in parallel, would be in the way, and so
    # would another order each time.
    options = ["-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:randomly", "-o", "addopts="]
    pytest.main([*options, *sorted(wanted)], plugins=[Recorder()])
    return tests


def main(results, wanted, *, lines):
    tests = (run_pytest if uses_pytest() else run_files)(wanted, lines=lines)
    Path(results).write_text(json.dumps(tests), encoding="utf-8")
    failed = {name: test for name, test in tests.items() if not test["passed"]}
    for name, test in failed.items():
        print(f"FAILED {name}: {test['error']}: {test['message']}".rstrip(": "))
    print(f"{len(tests)} tests, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    words = sys.argv[2:]
    sys.exit(main(sys.argv[1], set(words) - {"--lines"}, lines="--lines" in words))
