"""What one pytest session keeps: its runs, its fixtures, the state of each item, its verdicts.

Items and runs come in, failures and records go out. Uses all rooms but conformance and commands.
"""
