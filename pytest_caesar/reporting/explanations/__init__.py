"""Failed comparisons in the words of the domain, with the cause and what to do.

Two values and an operator come in, at most a dozen lines go out. Uses runs and reporting.
"""
