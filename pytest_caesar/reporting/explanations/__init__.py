"""Failed comparisons in the words of the domain, with the cause and what to do."""
