"""The texts of the agents that every project has; ``bundled_agents`` reads them."""
