"""The known CLIs, one module each: data, and what its settings need.

Each module has ``CLI``. Where it prints a stream, the
dialect of that name in ``recovery`` reads it. Uses ``agents`` alone.
"""
