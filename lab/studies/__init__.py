"""Studies whose results the documentation cites; run from the root of the repository."""
