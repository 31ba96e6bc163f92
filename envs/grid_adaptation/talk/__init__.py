"""Talk in Grid Adaptation: an option by which all players send each other words before each round."""
