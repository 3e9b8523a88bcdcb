"""What a delegation is known by afterwards: the run, its verdict, its record.

Evidence, observation and outcome come in, a ``Run`` goes out. Uses recovery, workspace and
supervision.
"""
