"""The texts of the agents that every project has, read by ``bundled_agents``."""
