"""``delegations/<id>.json`` and ``delegated/<id>.json``: a task handed on, and what came of it."""

from __future__ import annotations

from typing import ClassVar, Literal

from caesar_agent.documents.base import Document
from caesar_agent.documents.fields import Array, NotBlank, NotEmpty, Positive, Timestamp
from caesar_agent.documents.report import Report
from caesar_agent.documents.task import Mode


class DelegationFile(Document):
    """What an agent asks another one to do.

    Attributes:
        id: identifier; the file is named after it.
        agent: exact name of the agent that is asked for.
        objective: what is to be done.
        context: excerpts, history, links; default "".
        constraints, acceptance_criteria: a sentence each; empty by default.
        mode: absent for the mode of the one who asks.
        timeout_ms: absent for all the time that is left.
        asked_at: when it was asked, RFC 3339; absent when the writer did not say.

    Source: ours; the specification has no words for it.
    """

    kind: ClassVar[str] = "delegation"
    version: ClassVar[str] = ""

    id: str
    agent: NotEmpty
    objective: NotBlank
    context: str = ""
    constraints: Array[str] = ()
    acceptance_criteria: Array[str] = ()
    mode: Mode | None = None
    timeout_ms: Positive | None = None
    asked_at: Timestamp | None = None


class DelegatedFile(Document):
    """What came of a delegation.

    Attributes:
        id: identifier of the delegation.
        state: ``done``, ``refused``, or ``withdrawn`` when nobody waits for it any more.
        reason: why it was refused, in a sentence.
        task_id: of the task that was given; "" when none was.
        report: of the agent that worked, its changes as observed.
        source: where that report came from, ``file`` or ``synthesized`` say.
        process: how its process ended, ``succeeded`` or ``timed_out`` say.
        verified: the changes were observed by git.

    Source: as for ``DelegationFile``.
    """

    kind: ClassVar[str] = "delegated"
    version: ClassVar[str] = ""

    id: str
    state: Literal["done", "refused", "withdrawn"]
    reason: str = ""
    task_id: str = ""
    report: Report | None = None
    source: str = ""
    process: str = ""
    verified: bool = False
