"""Files and folders that an agent filled, with whatever depth, sizes, links and rights it liked.

Paths come in; what goes out was read, walked, copied or removed within bounds. Uses the task
directory of the SDK; ``removal`` uses the standard library alone, since the small processes that
watch agents import it too.
"""
