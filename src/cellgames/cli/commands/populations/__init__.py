"""Commands that train populations: exploiters of one agent, and leagues."""
