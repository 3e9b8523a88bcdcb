"""The client side of the Agent Client Protocol (ACP): an agent that speaks it works on one task.

Lines that the agent printed come in, answers go out on its stdin; what it may write and what it
is permitted is decided here. The agent's process is supervised elsewhere, and what it said is
read by the dialect ``acp`` of ``recovery``. May use the logs of ``supervision`` and ``files``.
"""
