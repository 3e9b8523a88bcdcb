"""The processes between the harness and its agents: they start, watch and end process trees.

The reaper waits for requests on a socket and forks one monitor for each. The monitor is the
agent's parent. On Linux it is also the *subreaper* of everything below it: a daemon that leaves
its session and loses its parent becomes the monitor's child, so "no children left" is the
kernel's own word that the tree is gone. Set in the user's pytest process, the same switch would
change who inherits the user's own daemons; here it touches nobody else.

A monitor ends its tree when it is told to, at the deadline, and as soon as the harness is gone
(its socket closes or its process ends), which is why no agent survives a killed pytest.

Nothing here imports more than the standard library and ``files.removal``: a bare interpreter
runs it.
"""
