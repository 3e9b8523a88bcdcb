"""Findings of the harness, each with a stable code."""

from __future__ import annotations

from dataclasses import dataclass

from caesar_agent.console import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One finding about a run, a document or a log; never the agent's own words.

    Attributes:
        code: stable, kebab-case, one of ``CODES``.
        message: one sentence: what was found and what it means.
        path: the file it is about, workspace-relative or absolute, or None.
        line: 1-based line in that file, or None.
    """

    code: str
    message: str
    path: str | None = None
    line: int | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the JSON form: ``code``, ``message``, ``path``, and ``line`` where known."""
        data: dict[str, object] = {"code": self.code, "message": self.message, "path": self.path}
        if self.line is not None:
            data["line"] = self.line
        return data

    def __repr__(self) -> str:
        return f"<{self.code}: {one_line(self.message, limit=200)}>"


CODES: dict[str, str] = {
    "hook-failed": "A hook of a plugin raised, or returned what cannot be used.",
    # agents that speak ACP
    "acp-malformed": "The agent printed what is no message of ACP, or more than is read.",
    "acp-unknown-method": "The agent asked its client for something that is not offered.",
    "acp-stray-answer": "The agent answered something that it was not asked.",
    "acp-path-refused": "The agent wanted its client to write or read a file that it may not.",
    "acp-session-failed": "The agent could not be given its task: version, login or an error.",
    "acp-ended-early": "The agent ended, or was ended, before it answered its client.",
    "acp-log-incomplete": "What the agent printed could not be written to raw.log.",
    # documents and event log
    "not-json": "The text is not JSON.",
    "truncated": "The text ends before it is complete.",
    "empty-document": "The document has no bytes, or only blanks.",
    "bad-encoding": "The bytes are not text in the encoding that they claim; UTF-8 is expected.",
    "duplicate-key": "A field stands twice in one object, so what it says is not clear.",
    "not-a-number": "NaN or Infinity, which are not JSON.",
    "number-too-large": "A number does not fit a double.",
    "too-deep": "Arrays and objects are nested deeper than is read.",
    "too-many-values": "The document holds more values than are read.",
    "not-an-object": "The document is JSON, but not an object.",
    "missing": "A required field is missing.",
    "wrong-type": "A field holds a value of another JSON type than the contract says.",
    "wrong-value": "A field holds a value that is not one of those the contract names.",
    "out-of-range": "A number is smaller or larger than the contract allows.",
    "empty": "A text that needs at least one character is empty.",
    "blank": "A text that must say something holds only blanks.",
    "unknown-field": "A closed document holds a field that its schema does not know.",
    "not-a-timestamp": "A time is not written as RFC 3339 says, with its offset.",
    "unsupported-version": "The document is of a version that this reader does not know.",
    "other-document": "The document is another document of the contract than was expected.",
    "not-a-caesar-document": "The protocol field is missing or says nothing of caesar.",
    "unknown-kind": "Nothing says which document a file is meant to be.",
    "byte-order-mark": "A byte order mark stood before the document and was skipped.",
    "unusual-encoding": "The document says that it is UTF-16 or UTF-32, and was read as that.",
    "path-with-nul": "A declared path holds a NUL character, so that no file can have it.",
    "file-not-regular": "A file is a link, a folder, a FIFO or a device, and was not opened.",
    "file-too-large": "A file is larger than is read.",
    "file-unreadable": "A file is there and could not be read.",
    "report-file-not-regular": "report.json is not a regular file, and was not opened.",
    "report-file-too-large": "report.json is larger than is read.",
    "report-file-unreadable": "report.json is there and could not be read.",
    "submission-not-regular": "submission.json is not a regular file, and was not opened.",
    "submission-too-large": "submission.json is larger than is read.",
    "submission-unreadable": "submission.json is there and could not be read.",
    "event-line-invalid": "A line of the event log is not an event, and was skipped.",
    "event-line-incomplete": "The last line of the event log has no end; its writer was cut off.",
    "event-line-torn": "An event stood on one line with others or their rests; it was read.",
    "event-line-too-long": "A line of the event log is longer than is read, and was skipped.",
    "event-unsupported-version": "An event is of a version that this reader does not know.",
    "event-seq-repeated": "Two events of a log have the same number.",
    "event-seq-missing": "A number between those of a log's events was given to none.",
    "event-seq-backward": "An event has a smaller number than one before it.",
    "tool-call-unended": "A tool call was begun in the event log, and its end is not told.",
    "tool-call-unbegun": "The end of a tool call is told in the event log, and not its start.",
    "event-of-another-task": "An event names another task, and was skipped.",
    "events-too-many-problems": "More lines of the event log are broken than are listed.",
    "events-cut": "The event log is larger than is read; only its end was.",
    "events-restarted": "The event log was truncated or replaced; it was read from its start again.",
    # workspace
    "workspace-unverified": "Git could not tell what changed, so the declaration stands alone.",
    "project-changed": "The project's own checkout (files, index, HEAD) or another worktree changed "
    "while the agent worked.",
    "project-unverified": "Whether the project's own checkout changed could not be told.",
    "patch-incomplete": "A changed file is too large for the patch, which names it by size and id.",
    "not-in-patch": "A change that no patch can carry, such as a repository inside the workspace.",
    "history-rewritten": "HEAD does not come after base_ref any more, or git cannot tell.",
    "branch-switched": "HEAD stands on another branch than before the agent.",
    "refs-changed": "Branches or tags changed while the agent worked.",
    "work-stashed": "The agent stashed work, which is no change.",
    "index-locked": "A git process of the agent left its lock in the workspace.",
    "configuration-changed": "The configuration of the project was changed beside the workspace.",
    "repository-tampered": "Git's own files, such as its configuration or hooks, were changed.",
    "ignored-file-changed": "A file that git ignores was changed; no patch holds it.",
    "filters-not-run": "Filters of the repository are not run; the agent sees what git stores.",
    "isolation-changed": "A worktree was made although working in place was asked for.",
    "isolation-degraded": "The agent works in place because no worktree can be made there.",
    "uncommitted-work": "The project holds uncommitted work, which the agent's worktree does not.",
    "path-not-placed": "A path of [worktree] copy or link was not put into the worktree.",
    "path-shared": "A linked path is shared with the project, so writes to it reach both.",
    # supervision
    "deadline-exceeded": "The agent still ran at its deadline and was ended.",
    "deadline-cut": "The deadline that ended the agent was cut to what was left of its test.",
    "killed-after-report": "The agent delivered its report but did not exit, and was ended.",
    "process-leaked": "A process outlived the agent that started it, and was ended.",
    "process-unkillable": "A process did not end although it was killed.",
    "supervision-lost": "The process that watched over the agent was ended from outside.",
    "log-shrank": "A log became shorter while the agent ran, so output is lost.",
    "log-replaced": "A log was removed or replaced while the agent ran; the original was read.",
    "thread-left": "A function that ran in this process left a thread running in it.",
    "deadline-not-enforced": "A function that ran in this process could not be interrupted in time.",
    # recovery
    "submission-invalid": "submission.json is not a report.",
    "final-message-invalid": "The final message is not the structured report that was asked for.",
    "report-file-invalid": "report.json is not a report.",
    "report-malformed": "A report in the log is not complete, strict JSON.",
    "report-invalid": "A report in the log is JSON, but not what the contract says.",
    "report-version": "A report is of a version that is not supported, and was not interpreted.",
    "report-of-another-task": "A report names another task, so it is not this task's.",
    "report-echoes-brief": "The log repeats the brief; the example in it is not an answer.",
    "report-superseded": "A better or newer report cannot be read, so this one is not the last word.",
    "report-conflict": "A later object in the log contradicts the block that counts.",
    "report-candidates-capped": "More places look like a report than are looked at.",
    "report-not-own-words": "A report stands in the log where others' words stand.",
    "report-file-not-the-agents": "report.json was written by the orchestrator, not by the agent.",
    "task-missing": "The folder holds no task.json.",
    "task-invalid": "task.json is not a task.",
    "dialect-unknown": "The stream was said to be of a dialect that there is not.",
    "log-encoding": "The log says that it is in another encoding than UTF-8; it was read so.",
    "stream-line-not-json": "A line of a native stream is not a JSON object, and was skipped.",
    "stream-line-strange": "A line of a native stream has an unknown shape, and was skipped.",
    "stream-line-too-long": "A line of a native stream is longer than is read, and was skipped.",
    "reports-disagree": "Two sources hold valid reports that contradict each other.",
    "log-truncated": "The log is larger than is read; only its end was.",
    "stream-failed": "The native stream says that the agent did not come to its end.",
    # delegation
    "network-not-guaranteed": "The network is not as it was asked for, or nobody can tell.",
    "acp-terminal-refused": "An agent that speaks ACP had a program asked for that was not run.",
    "limits-not-applied": "A bound on memory or processes does not hold on this machine.",
    "limit-reached": "The processes of a task came to the bound that is set for them.",
    "sandbox-weak": "The agent runs in no sandbox, or in one that does not hold all it should.",
    "own-sandbox-off": "The CLI's own sandbox was switched off: as root, it does not work inside "
    "another one.",
    "commits-left-out": "What was committed inside a sandbox could not be brought into the "
    "repository.",
    "channel-not-offered": "The CLI reads its settings in a folder of yours, where nothing is "
    "written, so it has no return channel.",
    "channel-not-started": "The CLI could not start the return channel, and ended.",
    "no-credentials": "A known CLI is given neither a login nor a scripted model, so it may wait "
    "for a model until the deadline.",
    "variable-not-passed": "The agent failed, and its last words name a variable that is set here "
    "and that it was not given, or miss a login or another file that is in your home.",
    "model-not-applied": "The agent takes no model, so the one that is configured is not used.",
    "events-unwritable": "An event could not be written to the event log.",
    "delegation-refused": "The agent asked for another one, and was refused.",
    "delegation-invalid": "A file in delegations/ is no request, and was not carried out.",
    "delegation-unsafe": "delegations/ or delegated/ is a link or no folder, and was not entered.",
    "delegation-unfinished": "An agent that another one asked for could not be ended in time.",
    "record-unwritable": "The run could not be kept in its task directory.",
    # reconciliation and contradictions
    "undeclared-change": "Git shows a change that the report does not declare.",
    "phantom-change": "The report declares a change that git does not show.",
    "wrong-action": "The report declares another action on a path than git shows.",
    "unverified-change": "The report declares a change to a path that git ignores.",
    "read-only-violation": "The task was read-only, and the agent changed files.",
    "blocked-without-question": "The report says blocked and asks no question.",
    "partial-without-next-steps": "The report says partial and has no next steps.",
    "success-but-timed-out": "The report says success, and the deadline passed.",
    "success-but-cancelled": "The report says success, and the task was cancelled.",
    "success-but-killed": "The report says success, and a signal ended the process.",
    "success-but-command-failed": "The report says success, and that a command failed that did not succeed later.",
    "success-but-exit-code": "The report says success, and the exit code says failure.",
    "command-contradicted": "The report says that a command succeeded; every run of it that was "
    "seen failed.",
    "later-failure": "A command succeeded as declared, and failed when it ran again later.",
    "tested-before-last-change": "Files were changed after the tests had passed for the last time.",
    "usage-contradicted": "The report tells other tokens, or another cost, than the stream.",
    "usage-unknown": "A test has a budget, and nobody tells what its agent used.",
    "budget-exceeded": "A test used more tokens, money or turns than it may.",
    "program-not-watched": "The stream shows a call of a faked or watched program, and none came.",
    # mailbox and channel
    "question-invalid": "A file in questions/ is not a question and was not read as one.",
    "answer-invalid": "A file in answers/ is neither an answer nor a note, and reached nobody.",
    "recording-not-hidden": "A secret is a short or common word, and stands in the recorded patch.",
    "recording-replaced": "What looks like a secret was replaced in the recorded patch.",
    "answer-stale": "An answer file is older than the question of its name, and no answer to it.",
    "answer-outside-options": "A question was answered with none of the options it gave.",
    "request-unanswerable": "A request over the channel had an id that no answer can carry.",
    "answer-foreign": "A question was answered by somebody who is not the orchestrator.",
    "answer-undelivered": "A scripted answer did not count: the question was closed before.",
    "unanswered-question": "The agent asked, and had no answer.",
    "mailbox-unsafe": "questions/ or answers/ is a link or no folder, and was not entered.",
    "mailbox-unreadable": "questions/ or answers/ could not be read.",
    "mailbox-flooded": "questions/ holds more files than are looked at.",
    # configuration and agents
    "definition-skipped": "A file among the agent definitions could not be read as one.",
    "definition-fallback": "A definition's front matter is not YAML; it was read line by line.",
    "definitions-below": "Definitions lie in folders below agents/, where they are not read.",
    "definition-folder-above-home": "A folder at or above home counts as the project's.",
    "plugin-registry": "The registry of plugins, or an entry of it, is not what it should be.",
    # va-agent-protocol
    "gate-failed": "The report says success, and a gate that was asked afterwards failed.",
    "gate-warning": "The report says success, and a judge is not quite content.",
    "outputs-missing": "The report says success and lacks an output that the task promises.",
    "va-reference": "A task unit refers to a task that it does not depend on, or to itself.",
    "va-evidence-weak": "Evidence lacks what its status asks for, or contradicts its gates.",
    "va-history": "The steps of an execution are not allowed, or do not join.",
    "va-other-version": "A message is of another version of its protocol than was read.",
}
"""Every code with one sentence on its meaning; a test compares it with the sources both ways."""
