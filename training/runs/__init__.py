"""Runs of training: folders, checkpoints, logs and curves."""
