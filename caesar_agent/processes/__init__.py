"""The process of the agent, which may be told to stop, and the programs that it runs.

Command lines and signals come in; output, exit codes and ``Interrupted`` go out, and nothing that
was started is left behind. Uses the clock and errors alone.
"""
