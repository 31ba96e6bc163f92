"""Names of files that hold agents. Importing this imports no torch."""

from __future__ import annotations

MIXTURE_FILE = "mixture.json"
"""The name of the file in a league's folder that says who plays how often."""

WEIGHTS_SUFFIX = ".safetensors"
"""The end of the name of a file by `saved.save_network`."""

WEIGHTS_FILE = f"agent{WEIGHTS_SUFFIX}"
"""The name of the agent's file in the folder of a training run."""

CHAMPION_FILE = "champion.json"
"""The name of the champion's file in the folder of an evolution."""

MODEL_SUFFIX = ".zip"
"""The end of the name of a model that Stable-Baselines3 saved."""

SAMPLE = ":sample"
"""The text after such a name that lets the agent draw its actions."""
