"""Benchmarks of cellgames beside other libraries; run from the root of the repository, never installed."""
