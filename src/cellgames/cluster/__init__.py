"""Ray clusters: the connection, workers and the work that they are handed."""
