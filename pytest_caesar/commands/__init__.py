"""The commands of ``pytest-caesar``, one module each."""
