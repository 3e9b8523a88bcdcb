"""An orchestrator that speaks va-agent-protocol: it says lines, and hears lines.

How they travel is not its business, nor the protocol's.
"""

from datetime import datetime, timezone

from caesar_agent.va import (
    DispatchPayload,
    InputRef,
    OutputContract,
    ProtocolMessage,
    TaskLifecycle,
    TaskUnit,
    check_graph,
    dispatch_order,
    resolve_inputs,
)

BUMP = TaskUnit(
    id="REL-1",
    objective="Bump the version",
    acceptance_criteria=("$ grep -qx 1.3.0 VERSION",),
    inputs={"part": "minor"},
    output_contract=OutputContract(keys=("version",)),
)
NOTES = TaskUnit(
    id="REL-2",
    objective="Write the notes of the release",
    acceptance_criteria=("$ grep -qx '## 1.3.0' CHANGELOG.md",),
    depends_on=("REL-1",),
    inputs={"version": InputRef(from_task="REL-1", output_key="version")},
    priority="P0",
)


class Pipeline:
    def __init__(self, units):
        self.units = check_graph(units)
        self.tasks = {task_id: TaskLifecycle.begin(task_id) for task_id in self.units}
        self.evidence = {}

    def next_line(self):
        """Dispatch the next unit that waits for nothing; None when there is none."""
        for task_id in dispatch_order(self.units.values()):
            unit, task = self.units[task_id], self.tasks[task_id]
            if task.state == "pending" and all(map(self.is_completed, unit.depends_on)):
                self.tasks[task_id] = task = task.advance("running", actor="orchestrator")
                return ProtocolMessage.carrying(
                    DispatchPayload(task=resolve_inputs(unit, self.evidence)),
                    at=datetime.now(timezone.utc).isoformat(),
                    correlation_id=task.current.correlation_id,
                    source_id="orchestrator",
                ).to_line()
        return None

    def hear(self, line):
        """Take note of how a unit ended, when it is one that was dispatched here."""
        message = ProtocolMessage.parse(line)
        if message.type not in {"completed", "failed", "blocked"}:
            return
        evidence = message.payload.evidence
        task = self.tasks.get(evidence.task_id)
        if task and message.correlation_id == task.current.correlation_id:
            self.tasks[evidence.task_id] = task.advance(message.type, actor=message.source_id)
            self.evidence[evidence.task_id] = evidence

    def is_completed(self, task_id):
        return self.tasks[task_id].state == "completed"
