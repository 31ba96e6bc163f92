"""Measures of what words mean in games with talk: over records, and of agents that listen."""
