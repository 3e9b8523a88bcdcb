"""The conformance kit: what of the contract an agent honours, and what it breaks."""
