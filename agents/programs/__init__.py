"""Programs in any language as agents, and agents as such programs: one JSON object a line, over standard streams."""
