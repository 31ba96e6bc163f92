"""Sweeps of training settings: Optuna records the trials, and a Ray cluster runs them."""
