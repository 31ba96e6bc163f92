"""Networks that play, and the files that hold their weights."""
