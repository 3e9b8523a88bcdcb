"""A scripted model: what a coding CLI is answered, turn by turn, on loopback and without a key.

What comes in: a script (turns of words such as ``shell``, ``write``, ``report``) and the
requests of a CLI in any of four wire formats. What goes out: answers in the same format,
what reached the model as values, and one failure that names the turn. The script, the
requests, the wires and the player are plain values and functions without I/O; only
``server`` and ``upstream`` touch sockets, ``script_file`` a file. The room uses the documents of
``caesar_agent``, and of recovery what a call of a tool and usage are; how a known CLI is
pointed at it is the business of ``agents``.
"""
