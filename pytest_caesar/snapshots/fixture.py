"""The fixture ``caesar_snapshot``: compares a value with what was recorded."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from caesar_agent.console import one_line
from pytest_caesar.reporting.difference import SHOWN, compare
from pytest_caesar.settings.advice import run_again
from pytest_caesar.snapshots.executed_tests import EXECUTED
from pytest_caesar.snapshots.normalisation import Normaliser
from pytest_caesar.snapshots.rules import RuleError, Rules, checked_rules
from pytest_caesar.snapshots.serialisation import KINDS, kind_of, serialise

if TYPE_CHECKING:
    from syrupy.assertion import AssertionResult, SnapshotAssertion

    from pytest_caesar.orchestrator.orchestrator import Orchestrator

SHARED = frozenset({"/usr", "/usr/local", "/opt"})
"""Where a Python may be installed among other things: a path there need not be of this machine."""

MISSING = (
    "caesar_snapshot needs the syrupy plugin, which is not active: install syrupy, and drop "
    "`-p no:syrupy` from the command line or addopts; where PYTEST_DISABLE_PLUGIN_AUTOLOAD is "
    "set, add `-p syrupy`"
)


LINE_ENDS = (
    "git changes them at a checkout: put the line `__caesar__/** -text` into .gitattributes, "
    "and check the folder out again"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mismatch:
    """The last comparison that failed.

    Attributes:
        file: the snapshot file, as shown.
        lines: what to say in the assertion.
        section: the whole difference, or "".
    """

    file: str
    lines: tuple[str, ...]
    section: str


class CaesarSnapshot:
    """What was recorded for one test; ``==`` compares with it.

    ``assert run == caesar_snapshot`` compares with ``<test>.run.md``; ``run.report``,
    ``run.patch``, ``run.events`` and JSON values have files of their own. Each kind is
    counted on its own, in the order of the comparisons; ``caesar_snapshot(name="x")``
    gives a snapshot a name instead.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        item: pytest.Item,
        orchestrators: Sequence[Orchestrator],
        *,
        repeated: Sequence[str] = (),
        roots: dict[str, str],
        rules: Rules = (),
    ) -> None:
        self._item = item
        self._orchestrators = orchestrators
        self._repeated = tuple(repeated)
        self._roots = roots
        self._rules = tuple(rules)
        self._by_kind: dict[str, SnapshotAssertion] = {
            kind: self._assertion(kind) for kind in KINDS
        }
        self._name: str | None = None
        self._mismatches: list[_Mismatch] = []

    @classmethod
    def of(
        cls,
        request: pytest.FixtureRequest,
        orchestrators: Sequence[Orchestrator],
        *,
        repeated: Sequence[str],
        rules: Rules,
    ) -> CaesarSnapshot:
        """Make the snapshots of one execution of a test.

        Args:
            request: of the fixture.
            orchestrators: those of the test, also such as it makes later.
            repeated: options of the command line that a test needs to run again as it ran.
            rules: the user's own for what varies.
        """
        if not hasattr(request.config, "_syrupy"):
            pytest.fail(MISSING, pytrace=False)
        try:
            rules = checked_rules(rules, where="caesar_snapshot_rules")
        except RuleError as error:
            pytest.fail(str(error), pytrace=False)
        request.config.stash[EXECUTED].forget_comparisons(request.node)
        roots = {str(request.config.rootpath): "<rootdir>", **folders_of_this_machine()}
        if "tmp_path" in request.fixturenames:
            roots[str(request.getfixturevalue("tmp_path"))] = "<tmp_path>"
        return cls(request.node, orchestrators, repeated=repeated, roots=roots, rules=rules)

    def __call__(self, *, name: str | None = None, rules: Rules = ()) -> CaesarSnapshot:
        """Return the snapshot of a name, or one with more rules for what varies.

        Args:
            name: stands in the file's name instead of a number.
            rules: pairs of pattern and replacement, beside those of the fixture
                ``caesar_snapshot_rules``.

        Raises:
            RuleError: a rule cannot be used.
        """
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._rules = (
            *self._rules,
            *checked_rules(rules, where="caesar_snapshot(rules=...)"),
        )
        if name is not None:
            other._name = name
            other._by_kind = {}
        return other

    def __eq__(self, value: object) -> bool:
        kind = kind_of(value)
        data = serialise(value, self._normaliser())
        assertion = self._by_kind.get(kind)
        if assertion is None:
            assertion = self._by_kind[kind] = self._assertion(kind)
        matched = bool((assertion(name=self._name) if self._name else assertion) == data)
        if not matched:
            self._mismatches.append(
                self._mismatch(kind, assertion.executions[assertion.num_executions - 1])
            )
        return matched

    def __repr__(self) -> str:
        return "caesar_snapshot" if self._name is None else f"caesar_snapshot(name={self._name!r})"

    def caesar_explanation(self) -> list[str]:
        """Say what differed in the last comparison, and how to record it."""
        return list(self._mismatches[-1].lines) if self._mismatches else []

    def take_sections(self) -> list[tuple[str, str]]:
        """Return the whole differences, once."""
        sections = [
            (f"caesar snapshot {mismatch.file}", mismatch.section)
            for mismatch in self._mismatches
            if mismatch.section
        ]
        self._mismatches.clear()
        return sections

    def _assertion(self, kind: str) -> SnapshotAssertion:
        from syrupy.assertion import SnapshotAssertion  # noqa: PLC0415 - an optional plugin
        from syrupy.location import PyTestLocation  # noqa: PLC0415 - as above

        from pytest_caesar.snapshots.extension import EXTENSIONS  # noqa: PLC0415 - as above

        options = self._item.config.option
        return SnapshotAssertion(
            session=self._item.config._syrupy,  # type: ignore[attr-defined] # noqa: SLF001 - as syrupy's own fixture
            extension_class=EXTENSIONS[kind],
            test_location=PyTestLocation(self._item),
            update_snapshots=options.update_snapshots,
            update_new_snapshots_only=getattr(options, "update_new_snapshots_only", False),
        )

    def _normaliser(self) -> Normaliser:
        roots = dict(self._roots)
        commits = []
        for orchestrator in self._orchestrators:
            roots[str(orchestrator.project)] = "<repo>"
        runs = [run for orchestrator in self._orchestrators for run in orchestrator.runs]
        for number, run in enumerate(runs, 1):
            which = "" if number == 1 else f"-{number}"
            roots.setdefault(str(run.workspace), f"<workspace{which}>")
            roots[str(run.task_dir)] = f"<task-dir{which}>"
            commits += [run.task.base_ref or "", run.observation.head or ""]
        for folder, name in list(roots.items()):
            roots.setdefault(os.path.realpath(folder), name)
        roots.pop("/", None)
        return Normaliser(
            roots,
            commits=[commit for commit in dict.fromkeys(commits) if commit],
            rules=self._rules,
        )

    def _mismatch(self, kind: str, result: AssertionResult) -> _Mismatch:
        file = Path(result.snapshot_location)
        start = self._item.config.invocation_params.dir
        shown = one_line(str(file.relative_to(start) if file.is_relative_to(start) else file))
        again = run_again(self._item, self._repeated, "--snapshot-update")
        record = f"record it: {again}"
        if result.exception is not None:
            problem = one_line(f"{type(result.exception).__name__}: {result.exception}", limit=400)
            return _Mismatch(file=shown, lines=(f"cannot read {shown}", problem), section="")
        if result.recalled_data is None:
            missing = f"{kind} == {shown}, which was not recorded yet"
            return _Mismatch(file=shown, lines=(missing, record), section="")
        recorded, received = _as_bytes(result.recalled_data), _as_bytes(result.asserted_data)
        if recorded.replace(b"\r\n", b"\n") == received:
            lines = [f"{kind} == {shown}, which differs in its line ends alone: CRLF", LINE_ENDS]
            return _Mismatch(file=shown, lines=tuple(lines), section="")
        difference = compare(recorded, received)
        lines = [f"{kind} == {shown}, which differs in line {difference.line}:"]
        lines += [f"  {line}" for line in difference.first(4)]
        hidden = difference.changed - 4
        if hidden > 0 or difference.cut:
            lines.append(f"  … {hidden} more lines: see the section 'caesar snapshot …'")
        lines += ["(-: recorded, +: received)", f"where the new one is right, {record}"]
        shown_lines = list(difference.lines[:SHOWN])
        if len(difference.lines) > SHOWN or difference.cut:
            shown_lines.append("… and more; the files are too different to show all of it")
        return _Mismatch(file=shown, lines=tuple(lines), section="\n".join(shown_lines))


def folders_of_this_machine() -> dict[str, str]:
    """Return folders that are elsewhere on the next machine, and what stands for them."""
    folders = {tempfile.gettempdir(): "<tmp>"}
    with contextlib.suppress(RuntimeError):  # a user without a home
        folders[str(Path.home())] = "<user-home>"
    if sys.prefix not in SHARED:
        folders[sys.prefix] = "<python>"
    return folders


def _as_bytes(data: Any) -> bytes:
    return b"" if data is None else bytes(data)
