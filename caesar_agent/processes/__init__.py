"""Programs that an agent runs: started, listened to, ended with all that they started.

A command comes in, its end and the end of its output go out. Uses the console and the clock.
"""
