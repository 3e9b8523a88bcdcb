"""The known CLIs, one module each: data, and what its settings need.

Each module has ``CLI``. What it prints is read by the dialect of that name in ``recovery``.
"""
