"""What people read: progress, sections, explanations of comparisons, the summary.

Runs and records come in, lines that are safe to print go out. Uses runs, never the session.
"""
