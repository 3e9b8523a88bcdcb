"""va-agent-protocol in the harness: gates, evidence, conversations, task graphs."""
