"""Datasets of recorded games for offline learning."""
