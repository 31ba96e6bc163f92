"""Talk in Grid Adaptation: the layers of a network that listen and speak, and agents that are silent."""
