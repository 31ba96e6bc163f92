"""A census of Life: which objects stand on boards, and whose they are."""
