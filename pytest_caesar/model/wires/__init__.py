"""The wire formats of models, one module each: a request in, an answer out.

Each module has ``read`` (body and address to a ``ModelRequest``), ``plain`` and ``stream``
(an ``Answer`` to a body, or to the chunks of one), and ``error``. They use the values of the
room and do no I/O. Bodies are written by a program that is under test: whatever is not of the
expected type counts as absent.
"""
