"""From text and files to a report; pure.

Evidence comes in, a report goes out with where it came from and what was wrong with better
sources. Uses documents alone.
"""
