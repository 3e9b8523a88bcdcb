"""Programs on the agent's PATH: faked, or watched while the real one runs.

Names and replies come in, launchers in a folder that leads PATH go out, and calls come back over
a socket. Uses runs, and of recovery what a command line
and a call of a tool are.
"""
