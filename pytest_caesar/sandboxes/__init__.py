"""Sandboxes around agents and gates: what they show, how they are proved, what held.

Paths of a task come in, a command line that makes the sandbox goes out, with what was proved of
it. Uses supervision to run its probe, workspace for what it shows of git, and files.
"""
