"""Whether a report stands where others' words stand: in a prompt, in what a tool took or gave."""

from __future__ import annotations

from pytest_caesar.recovery.candidates import Passage
from pytest_caesar.recovery.echo import Echo
from pytest_caesar.recovery.extraction import extract
from pytest_caesar.recovery.passages import PLAIN, Script
from pytest_caesar.recovery.unwrapping import texts, wrapped_lines


def others_report(script: Script, log: bytes, echo: Echo, task_id: str) -> bool:
    """Tell whether a log holds a report that is not the agent's own, nor the brief's example.

    A brief that the CLI repeats holds an example, and is none. Linear in the size of the log.

    Args:
        script: the log, read.
        log: its bytes.
        echo: what the brief looks like.
        task_id: of the task.
    """
    plain = script.dialect == PLAIN
    own = {(passage.start, passage.end) for passage in script.passages}
    for start, end, value in wrapped_lines(log):
        if (start, end) in own or (start, end + 1) in own:
            continue
        for text in texts(value):
            if plain and text.own:
                continue
            data = text.text.encode("utf-8", "surrogatepass")
            passage = Passage(text=data, start=0, end=len(data))
            if extract((passage,), echo=echo, task_id=task_id).chosen is not None:
                return True
    return False
