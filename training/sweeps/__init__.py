"""Sweeps of settings by Ray Tune."""
