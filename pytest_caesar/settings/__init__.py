"""What a session was asked for: options, ini keys, the marker, and the files of a test.

pytest's configuration comes in, frozen values go out. Uses agents, the orchestrator's
settings and prices; what records, compares or runs reads it from here.
"""
