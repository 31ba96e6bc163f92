"""Names of files of weights. Importing this imports no torch."""

from __future__ import annotations

__all__ = ["WEIGHTS_FILE", "WEIGHTS_SUFFIX"]

WEIGHTS_SUFFIX = ".safetensors"
"""The end of the name of a file by `saved.save_network`."""

WEIGHTS_FILE = f"agent{WEIGHTS_SUFFIX}"
"""The name of the agent's file in the folder of a training run."""
