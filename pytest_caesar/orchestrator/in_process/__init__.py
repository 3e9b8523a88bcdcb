"""A Python function played as an agent in this process.

A function and a task come in, an outcome goes out; whatever the function changed in this process is
given back. Uses supervision.
"""
