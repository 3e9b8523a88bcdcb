"""Runs with one lie added, so that people see whether their own assertions would notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from caesar_agent.documents.report import Action, Change, Report
from pytest_caesar.recovery.sources import recover
from pytest_caesar.runs.run import Run
from pytest_caesar.runs.verdict import settle

OTHER_ACTION: dict[Action, Action] = {
    "created": "modified",
    "modified": "created",
    "deleted": "modified",
    "renamed": "created",
}
"""What is said instead of what was done."""

INVENTED = "src/never_touched.py"
"""Declared and never touched."""

OTHER_TASK = "t_of_yesterday"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One lie.

    Attributes:
        name: ``over-claimed``, ``under-claimed``, ``wrong-action``, ``wrong-task`` or
            ``wrong-status``.
        lie: what was changed, in a sentence.
        run: what the run would have been.
    """

    name: str
    lie: str
    run: Run


class Mutations:
    """Makes lies of a true run; the object behind ``caesar_mutations``."""

    def __call__(self, run: Run) -> tuple[Mutation, ...]:
        """Return the run once for each lie that can be told of it.

        What is not declared cannot be left out: a report without changes gives fewer.

        Raises:
            ValueError: the report was not handed in by the agent, so it says nothing.
        """
        return tuple(
            Mutation(name=name, lie=lie, run=_told(run, report)) for name, lie, report in _lies(run)
        )

    def unnoticed(self, run: Run, check: Callable[[Run], object]) -> tuple[str, ...]:
        """Return the names of the lies that a check lets pass.

        Args:
            run: a true one, which the check must let pass.
            check: raises ``AssertionError`` for what it does not like.

        Raises:
            AssertionError: the check does not like the true run.
        """
        check(run)
        missed = []
        for mutation in self(run):
            try:
                check(mutation.run)
            except AssertionError:
                continue
            missed.append(mutation.name)
        return tuple(missed)


def _lies(run: Run) -> Iterator[tuple[str, str, Report]]:
    if run.source == "synthesized":
        raise ValueError(f"{run.task.id} has no report of the agent, so there is nothing to twist")
    said = run.declared
    invented = (*said.changes, Change(path=INVENTED, action="modified"))
    yield (
        "over-claimed",
        f"declares {INVENTED}, which was never touched",
        said.model_copy(update={"changes": invented}),
    )
    if said.changes:
        first, *others = said.changes
        yield (
            "under-claimed",
            f"leaves out {first.path}",
            said.model_copy(update={"changes": tuple(others)}),
        )
        action = OTHER_ACTION[first.action]
        twisted = first.model_copy(update={"action": action})
        yield (
            "wrong-action",
            f"says {action} of {first.path}, which was {first.action}",
            said.model_copy(update={"changes": (twisted, *others)}),
        )
    yield (
        "wrong-task",
        f"names {OTHER_TASK} instead of {run.task.id}",
        said.model_copy(update={"task_id": OTHER_TASK}),
    )
    status = "failed" if said.status == "success" else "success"
    yield (
        "wrong-status",
        f"says {status} instead of {said.status}",
        said.model_copy(update={"status": status}),
    )


def _told(run: Run, report: Report) -> Run:
    """Return the run as it would be, had the agent handed in another report."""
    data = report.to_json().encode()
    evidence = replace(
        run.evidence,
        report_file=data,
        report_file_problem=None,
        submission=data if run.source == "channel" else run.evidence.submission,
    )
    verdict = settle(
        recover(evidence),
        observation=run.observation,
        outcome=run.outcome,
        task=run.task,
        harness_findings=run.harness_findings,
        ignored=run.ignored,
    )
    return replace(run, evidence=evidence, **verdict)
