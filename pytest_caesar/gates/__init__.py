"""What is asked of the tree that an agent left: commands and judges.

Gates and a run come in, the run with their verdicts goes out. Uses supervision, runs, and
agents to find a program.
"""
