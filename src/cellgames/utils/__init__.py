"""Run folders, atomic writes, progress and hardware: helpers that import nothing else of the package."""
