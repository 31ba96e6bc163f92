"""Ray clusters: the connection, and workers that do pieces of work."""
